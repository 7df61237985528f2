-- How programs evolve: chains of steps, and the calls to models that the steps made.

create table chains (
    chain   integer primary key,
    run     integer not null,
    name    varchar not null,
    oracles varchar[] not null,       -- one oracle for all seats, or one for each
    plan    json not null             -- rounds, steps, episodes, objective, order, and how models are asked
);

create table steps (
    chain    integer not null,
    step     integer not null,        -- from 0
    round    integer not null,
    seat     utinyint not null,       -- the seat whose program the step was to improve
    turn     integer not null,
    program  integer,                 -- the program that it produced; null if none
    profile  integer[] not null,      -- programs by seat after the step
    welfare  double,                  -- of the profile; null if it does not run
    payoffs  double[],
    samples  double[],                -- the welfare of each match of the rollout
    outcome  varchar not null,        -- ok, or the kind of problem
    critique varchar not null,
    problems varchar[] not null,      -- the faults of its program
    calls    varchar[] not null,
    best     boolean not null,        -- whether no earlier profile had as much welfare
    primary key (chain, step)
);

create table calls (
    key           varchar primary key, -- a digest of all that the answer depends on
    run           integer not null,    -- the run that paid for it
    place         varchar not null,    -- the name of the step that made the call
    purpose       varchar not null,
    model         varchar not null,
    prompt        varchar not null,
    answer        varchar not null,
    outcome       varchar not null,
    input_tokens  bigint,
    output_tokens bigint,
    cost          double,              -- in dollars; null if it is unknown
    seconds       double,
    asked_at      timestamp not null,
    line          varchar not null     -- the whole call and answer as JSON, from which `replay` answers
);
