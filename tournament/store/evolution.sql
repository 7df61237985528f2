-- How programs are grown: chains of steps, and the calls to models that they took.

create table chains (
    chain   integer primary key,
    run     integer not null,
    name    varchar not null,
    oracles varchar[] not null,       -- one for all seats, or of each
    plan    json not null             -- rounds, steps, episodes, objective, order, and how models are asked
);

create table steps (
    chain    integer not null,
    step     integer not null,        -- from 0
    round    integer not null,
    seat     utinyint not null,       -- whose program it was about
    turn     integer not null,
    program  integer,                 -- what came of it; null if nothing did
    profile  integer[] not null,      -- programs by seat after it
    welfare  double,                  -- of the profile; null for a gap
    payoffs  double[],
    samples  double[],                -- the welfare of each match of the rollout
    outcome  varchar not null,        -- of a gap: why it is one
    critique varchar not null,
    problems varchar[] not null,      -- rules that its program broke
    calls    varchar[] not null,
    best     boolean not null,        -- no profile before was worth as much
    primary key (chain, step)
);

create table calls (
    key           varchar primary key, -- a digest of all that the answer depends on
    run           integer not null,    -- which paid for it
    place         varchar not null,    -- the step that asked
    purpose       varchar not null,
    model         varchar not null,
    prompt        varchar not null,
    answer        varchar not null,
    outcome       varchar not null,
    input_tokens  bigint,
    output_tokens bigint,
    cost          double,              -- in dollars; null if it is not known
    seconds       double,
    asked_at      timestamp not null,
    line          varchar not null     -- call and answer whole, as JSON: what `replay` answers from
);
