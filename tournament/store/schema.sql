-- The tables of the first version of the record: the programs, the matches they played, and the results.
--
-- This is the first step of every record, and is never edited: later steps change what it makes. `docs/record.md` shows
-- the tables as they are after all steps; there a sitting is called a session.
--
-- A run is one configuration; each start of it is a sitting. Each program is stored once and has a number. A match has
-- a lineup of programs, and one row of `seats` for each of them. Rounds, seats and repetitions are counted from 0. A
-- move is stored as its position among the run's legal moves, also from 0.

create table programs (
    program integer primary key,
    digest  varchar not null unique,  -- SHA-256 of the source
    source  varchar not null,
    name    varchar not null,         -- of the file in which it was first seen
    path    varchar not null,
    parents integer[]                 -- the programs that it was written in answer to
);

create table runs (
    run      integer primary key,
    key      varchar not null unique, -- a digest of the configuration and the seed
    game     varchar,
    seed     varchar not null,        -- a whole number of any size
    discount double not null,         -- the payoff of round r is multiplied by discount ** r
    moves    varchar[][] not null,    -- the legal moves of each seat
    config   json not null
);

create table sittings (
    sitting    integer primary key,
    run        integer not null,
    started_at timestamp not null,    -- all times are UTC
    ended_at   timestamp,
    status     varchar not null,      -- running, done, interrupted or failed
    matches    bigint not null,       -- played in this sitting, once it has ended
    manifest   json not null          -- versions, image, sandbox layers, workers, command
);

create table entrants (
    sitting integer not null,
    bot     varchar not null,
    program integer,                  -- null for a file that was left out
    problem varchar                   -- why it was left out; null if it was not
);

create table matches (
    match      bigint primary key,
    run        integer not null,
    sitting    integer not null,
    repetition integer not null,
    lineup     integer[] not null,    -- programs by seat
    rounds     integer not null       -- the horizon, even if a fault ended the match earlier
);

create table seats (
    match    bigint not null,
    seat     utinyint not null,
    program  integer not null,
    payoff   double,                  -- over the whole match; null if another's fault ended it
    moves    utinyint[] not null,
    intended utinyint[],              -- the moves before noise; null without noise
    fuel     bigint,
    checked  boolean                  -- whether it was replayed alone and moved the same
);

create table faults (
    match     bigint not null,
    seat      utinyint not null,
    round     integer not null,
    kind      varchar not null,
    message   varchar not null,
    traceback varchar not null,
    output    varchar not null
);

create table leaks (
    match   bigint not null,
    program integer not null          -- moved differently alone than in a batch
);
