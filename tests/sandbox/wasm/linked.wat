;; A component of modules that are linked at run time, in the way in which the builder of images does it.
(component
  (import "host" (func $host (param "request" string) (result string)))

  ;; What is lowered before there is a memory is called by way of a table, which is filled in the end.
  (core module $shim
    (type $asking (func (param i32 i32 i32)))
    (table (export "$imports") 1 1 funcref)
    (func (export "0") (type $asking)
      local.get 0 local.get 1 local.get 2 i32.const 0 call_indirect (type $asking)))
  (core module $fixup
    (import "" "$imports" (table 1 1 funcref))
    (import "" "0" (func $host (param i32 i32 i32)))
    (elem (i32.const 0) func $host))

  ;; The memory, the table, and functions that pass on what one library calls in another.
  (core module $env
    (type $change (func (param i32) (result i32)))
    (memory (export "memory") 2)
    (table (export "table") 8 funcref)
    (global (export "base") i32 (i32.const 2))
    (global (export "none") i32 (i32.const 0))
    (global (export "stack") (mut i32) (i32.const 4096))
    (global (export "offset") (mut i32) (i32.const 3))
    (func $shifted (export "shifted") (param i32) (result i32)
      local.get 0 i32.const 2 call_indirect (type $change))
    (func (export "again") (param i32) (result i32)
      local.get 0 i32.const 4 call_indirect (type $change))
    (func (export "by others") (param i32) (result i32)
      local.get 0 i32.const 5 call_indirect (type $change))
    (data (i32.const 100) "what lasts\00\00"))

  (core module $library
    (type $change (func (param i32) (result i32)))
    (type $nothing (func))
    (import "env" "memory" (memory 2))
    (import "env" "table" (table 8 funcref))
    (import "env" "base" (global $base i32))
    (import "env" "offset" (global $offset (mut i32)))
    (global $mine i32 (global.get $base))
    (func $unused (type $nothing))
    (func $shift (type $change)
      local.get 0 global.get $offset i32.add global.get $mine i32.add)
    (func $twice (type $change)
      ;; By way of the table, and of whom only passes it on.
      local.get 0 i32.const 2 call_indirect (type $change)
      i32.const 2 call_indirect (type $change))
    (elem (global.get $base) func $shift $twice)
    (export "twice" (func $twice)))

  (core module $bindings
    (import "env" "memory" (memory 2))
    (import "env" "shifted" (func $shifted (param i32) (result i32)))
    (import "env" "by others" (func $again (param i32) (result i32)))
    (import "env" "stack" (global $stack (mut i32)))
    (import "root" "host" (func $host (param i32 i32 i32)))
    (type $pair (func (param i32 i32) (result i32)))
    (func $result (type $pair)
      (i32.store (i32.const 64) (local.get 0))
      (i32.store offset=4 (i32.const 64) (local.get 1))
      i32.const 64)
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
      global.get $stack i32.const 64 i32.add local.get 3 i32.add global.set $stack
      global.get $stack local.get 3 i32.sub)
    (func (export "load") (param i32 i32 i32 i32) (result i32)
      ;; The source with every letter changed, behind the setup.
      (local $n i32)
      (block $done
        (loop $next
          (br_if $done (i32.ge_u (local.get $n) (local.get 1)))
          (i32.store8 (i32.add (local.get 0) (local.get $n))
            (call $again (call $shifted (i32.load8_u (i32.add (local.get 0) (local.get $n))))))
          (local.set $n (i32.add (local.get $n) (i32.const 1)))
          (br $next)))
      (memory.copy (i32.add (local.get 2) (local.get 3)) (local.get 0) (local.get 1))
      (call $result (local.get 2) (i32.add (local.get 1) (local.get 3))))
    (func (export "play") (type $pair)
      (call $host (local.get 0) (local.get 1) (i32.const 72))
      i32.const 72)
    (func (export "drop") (type $pair)
      (call $result (i32.const 100) (i32.const 10)))
    (func (export "stateless") (type $pair)
      (block $odd
        (block $even
          (br_table $even $odd (i32.and (local.get 1) (i32.const 1))))
        (return (i32.wrap_i64 (i64.extend_i32_u (i32.eqz (i32.const 1))))))
      (i32.trunc_sat_f64_u (f64.add (f64.const 0.5) (f64.promote_f32 (f32.const 0.5)))))
    (func (export "cabi_post_load") (param i32))
    (func (export "cabi_post_play") (param i32))
    (func (export "cabi_post_drop") (param i32))
    (func (export "cabi_post_stateless") (param i32)))

  ;; Names one module's functions in the table of another.
  (core module $init
    (import "env" "table" (table 8 funcref))
    (import "env" "again" (func $again (param i32) (result i32)))
    (import "library" "twice" (func $twice (param i32) (result i32)))
    (elem (table 0) (i32.const 4) func $twice $again))

  (core instance $shim (instantiate $shim))
  (core instance $env (instantiate $env))
  (core instance $library (instantiate $library (with "env" (instance
    (export "memory" (memory $env "memory")) (export "table" (table $env "table"))
    (export "base" (global $env "base")) (export "offset" (global $env "offset"))))))
  (core instance $bindings (instantiate $bindings
    (with "env" (instance $env)) (with "root" (instance (export "host" (func $shim "0"))))))
  (core instance (instantiate $init
    (with "env" (instance $env)) (with "library" (instance $library))))
  (core func $lowered (canon lower (func $host)
    (memory (core memory $env "memory")) (realloc (core func $bindings "cabi_realloc"))))
  (core instance (instantiate $fixup (with "" (instance
    (export "$imports" (table $shim "$imports")) (export "0" (func $lowered))))))

  (func (export "load") (param "source" string) (param "setup" string) (result string)
    (canon lift (core func $bindings "load") (memory (core memory $env "memory"))
      (realloc (core func $bindings "cabi_realloc"))
      (post-return (core func $bindings "cabi_post_load"))))
  (func (export "play") (param "lines" string) (result string)
    (canon lift (core func $bindings "play") (memory (core memory $env "memory"))
      (realloc (core func $bindings "cabi_realloc"))
      (post-return (core func $bindings "cabi_post_play"))))
  (func (export "drop") (param "positions" string) (result string)
    (canon lift (core func $bindings "drop") (memory (core memory $env "memory"))
      (realloc (core func $bindings "cabi_realloc"))
      (post-return (core func $bindings "cabi_post_drop"))))
  (func (export "stateless") (param "source" string) (result bool)
    (canon lift (core func $bindings "stateless") (memory (core memory $env "memory"))
      (realloc (core func $bindings "cabi_realloc"))
      (post-return (core func $bindings "cabi_post_stateless")))))
