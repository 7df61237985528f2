-- What could not be decided within its bounds, and which bound was hit.

create table notes (
    match bigint not null,
    seat  utinyint not null,
    round integer not null,
    note  varchar not null
);
