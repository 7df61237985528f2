-- Sittings are renamed to sessions. Renamed views are dropped here; all other views are created again at each opening.

drop view if exists faulted;
drop view if exists growth;
drop view if exists history;

alter table sittings rename to sessions;
alter table sessions rename column sitting to session;
alter table entrants rename column sitting to session;
alter table matches rename column sitting to session;
