-- A start of a run is called a session. Views that were renamed go; the others are made anew when a record is opened.

drop view if exists faulted;
drop view if exists growth;
drop view if exists history;

alter table sittings rename to sessions;
alter table sessions rename column sitting to session;
alter table entrants rename column sitting to session;
alter table matches rename column sitting to session;
