-- Proofs that could not be decided within their bounds, and which bound was reached.

create table notes (
    match bigint not null,
    seat  utinyint not null,
    round integer not null,
    note  varchar not null
);
