-- Views that answer common questions in one line, such as `from leaderboard where run = 1`.

-- The name of each program in each session. Several files with the same source are one bot with a joined name.
create or replace view names as
    select session, program, string_agg(bot, ' = ' order by bot) as bot
    from entrants
    where program is not null
    group by session, program;

-- The programs in the standings of a run, which are those of its latest session.
create or replace view bots as
    select run, program, bot
    from names
    join (select run, max(session) as session from sessions group by run) using (session);

-- The matches among those programs only. Matches of an earlier version of a bot are left out.
create or replace view current_matches as
    select matches.*
    from matches
    join (select run, list(program) as programs from bots group by run) using (run)
    where list_has_all(programs, lineup);

-- The payoff per round of a program in a match, and the other programs. A program with several seats gets the mean over
-- its seats. With a discount, the payoff is divided by the sum of the weights of the rounds. The payoff of an episode
-- is not divided.
create or replace view results as
    select
        run, match, program,
        any_value(lineup) as lineup,
        any_value(list_sort(lineup[:seat] || lineup[seat + 2:])) as others,
        avg(payoff / case
            when coalesce((config ->> 'episodic')::boolean, false) then 1
            when discount = 1 then rounds
            else (1 - discount ** rounds) / (1 - discount)
        end) as payoff,
        bool_or((match, seat) in (select (match, seat) from faults)) as faulted
    from current_matches
    join runs using (run)
    join seats using (match)
    group by run, match, program;

-- The mean of `results` over repetitions, then over seat orders, and the variance of that mean.
create or replace view pairings as
    with lineups as (
        select
            run, program, others, lineup,
            avg(payoff) as payoff,
            var_samp(payoff) / count(*) as variance,
            count(*) as matches
        from results
        where payoff is not null
        group by run, program, others, lineup
    )
    select
        run, program, others,
        avg(payoff) as payoff,
        case when min(matches) > 1 then sum(variance) / count(*) ** 2 end as variance,
        sum(matches)::bigint as matches
    from lineups
    group by run, program, others;

-- `error` is half the width of the 95 % confidence interval, which covers the chance in the repetitions.
create or replace view payoff_matrix as
    with opponents as (
        select run, others, string_agg(bot, ', ' order by bot) as opponent
        from (
            select run, others, unnest(others) as program
            from (select distinct run, others from pairings)
        )
        join bots using (run, program)
        group by run, others
    )
    select
        run, bot, opponent,
        round(payoff, 9) as payoff,
        round(1.96 * sqrt(variance), 9) as error,
        matches
    from pairings
    join bots using (run, program)
    join opponents using (run, others)
    order by run, bot, opponent;

-- `score` is the mean of a bot's row of `payoff_matrix`. It is rounded, so that bots with equal payoffs tie even if the
-- payoffs were added in another order.
create or replace view leaderboard as
    with scores as (
        select
            run, program,
            round(avg(payoff), 9) as score,
            case
                when count(variance) = count(*)
                then round(1.96 * sqrt(sum(variance)) / count(*), 9)
            end as error
        from pairings
        group by run, program
    ),
    counts as (
        select
            run, program,
            count(*) as matches,
            count(*) filter (faulted) as faults,
            count(*) filter (payoff is null) as unscored
        from results
        group by run, program
    )
    select
        run,
        rank() over (partition by run order by score desc nulls last) as rank,
        bot, score, error,
        coalesce(matches, 0) as matches,
        coalesce(faults, 0) as faults,
        coalesce(unscored, 0) as unscored
    from bots
    left join scores using (run, program)
    left join counts using (run, program)
    order by run, rank, bot;

-- The wins, draws and losses of every bot against every other bot, counted over pairs of seats.
create or replace view head_to_head as
    with pairs as (
        select
            run, mine.program, theirs.program as opponent,
            round(mine.payoff, 9) as payoff,
            round(theirs.payoff, 9) as their_payoff
        from current_matches
        join seats as mine using (match)
        join seats as theirs using (match)
        where mine.program <> theirs.program
            and mine.payoff is not null
            and theirs.payoff is not null
    )
    select
        run, me.bot as bot, them.bot as opponent,
        count(*) as matches,
        count(*) filter (payoff > their_payoff) as wins,
        count(*) filter (payoff = their_payoff) as draws,
        count(*) filter (payoff < their_payoff) as losses
    from pairs
    join bots as me using (run, program)
    join bots as them on them.run = pairs.run and them.program = pairs.opponent
    group by all
    order by run, bot, opponent;

-- The share of each move among all moves of a bot.
create or replace view cooperation as
    with played as (
        select run, program, seat, unnest(seats.moves) as move
        from current_matches
        join seats using (match)
    ),
    counted as (
        select run, program, runs.moves[seat + 1][move + 1] as move, count(*) as times
        from played
        join runs using (run)
        group by all
    ),
    legal as (
        select distinct run, unnest(flatten(moves)) as move from runs
    )
    select
        run, bot, move,
        coalesce(times, 0) / sum(times) over (partition by run, program) as share
    from bots
    join legal using (run)
    left join counted using (run, program, move)
    order by run, bot, move;

-- Every move of every match, one row for each. The rows have no order, because sorting them would make queries slow.
create or replace view moves as
    with played as (
        select
            match, seat, program,
            unnest(range(length(moves))) as round,
            unnest(moves) as move,
            unnest(intended) as intended
        from seats
    )
    select
        run, match, round, seat, bot,
        runs.moves[seat + 1][move + 1] as move,
        runs.moves[seat + 1][intended + 1] as intended
    from played
    join matches using (match)
    join runs using (run)
    join names using (session, program);

-- The kinds of faults of each bot, how often each occurred, and the first match and message.
create or replace view fault_counts as
    select
        run, bot, kind,
        count(*) as count,
        min(match) as match,
        arg_min(message, match) as example
    from current_matches
    join faults using (match)
    join seats using (match, seat)
    join bots using (run, program)
    group by run, bot, kind
    order by run, bot, count desc, kind;

-- The sessions, with the versions of the programs that they used.
create or replace view provenance as
    select
        session, run, game, seed, started_at, ended_at, status, sessions.matches,
        manifest ->> 'engine' as engine,
        manifest ->> 'python' as python,
        manifest ->> 'wasmtime' as wasmtime,
        manifest ->> 'image' as image,
        manifest -> 'layers' as layers,
        manifest -> 'workers' as workers,
        manifest -> 'strict' as strict,
        manifest ->> 'command' as command
    from sessions
    join runs using (run)
    order by session;

-- The steps of the chains, with the welfare of the profile after each step. The welfare is null if the step produced no
-- program that runs. Steps of several chains may have the same `name`. K and T are from the plan, which is in `chains`.
create or replace view evolution as
    select
        run, chain, concat_ws('_', chains.name, round, seat, turn) as name, oracles,
        (plan ->> '$.rounds')::integer as K, (plan ->> '$.steps')::integer as T,
        step, round, seat, turn, bot.name as program,
        welfare, payoffs, outcome, best, problems
    from steps
    join chains using (chain)
    left join programs as bot on bot.program = steps.program
    order by run, chain, step;

-- The calls, tokens and cost of models, by run, model and purpose, without the calls that the budget refused.
-- `uncounted` is the number of calls whose tokens the server did not report, so that no sum includes them. The cost is
-- null if the cost of any call is unknown.
create or replace view spending as
    with made as (
        select
            *,
            coalesce(input_tokens, 0) + coalesce(output_tokens, 0) as counted,
            coalesce((line ->> '$.answer.taken.tokens')::bigint, 0) as taken
        from calls
        where outcome <> 'budget'
    )
    select
        run, model, purpose,
        count(*) as calls,
        coalesce(sum(input_tokens), 0)::bigint as input_tokens,
        coalesce(sum(output_tokens), 0)::bigint as output_tokens,
        count(*) filter (
            taken > counted
            or (input_tokens is null or output_tokens is null) and cost is distinct from 0
        ) as uncounted,
        case when count(cost) = count(*) then fsum(cost) end as cost,
        count(*) filter (outcome not in ('ok', 'several_blocks')) as failures
    from made
    group by run, model, purpose
    order by run, model, purpose;
