-- The key `terse` of a chain's plan is now `short_prompts`. Keys stay sorted, because a chain is found by this text.

update chains
set plan = regexp_replace(plan, '"steps": (.*), "terse": (true|false)}', '"short_prompts": \2, "steps": \1}');
