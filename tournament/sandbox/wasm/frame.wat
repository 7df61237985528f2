;; The component around the one module of an image: its imports and exports are those of `guest/bot.wit`.
(component
  (import "host" (func $host (param "request" string) (result string)))

  ;; Stands for the module. It imports "host", and exports what is named here.
  (core module $bot)

  ;; The module must be there before what it imports can be made, for that uses its memory: so it is put in later.
  (core module $first
    (type $asking (func (param i32 i32 i32)))
    (table (export "table") 1 1 funcref)
    (func (export "host") (type $asking)
      local.get 0
      local.get 1
      local.get 2
      i32.const 0
      call_indirect (type $asking)))
  (core module $then
    (import "" "table" (table 1 1 funcref))
    (import "" "host" (func $host (param i32 i32 i32)))
    (elem (i32.const 0) func $host))

  (core instance $early (instantiate $first))
  (core instance $bot (instantiate $bot
    (with "" (instance (export "host" (func $early "host"))))))
  (core func $host (canon lower (func $host)
    (memory (core memory $bot "memory")) (realloc (core func $bot "cabi_realloc"))))
  (core instance (instantiate $then
    (with "" (instance (export "table" (table $early "table")) (export "host" (func $host))))))

  (func (export "load") (param "source" string) (param "setup" string) (result string)
    (canon lift (core func $bot "load") (memory (core memory $bot "memory")) (realloc (core func $bot "cabi_realloc"))
      (post-return (core func $bot "cabi_post_load"))))
  (func (export "play") (param "lines" string) (result string)
    (canon lift (core func $bot "play") (memory (core memory $bot "memory")) (realloc (core func $bot "cabi_realloc"))
      (post-return (core func $bot "cabi_post_play"))))
  (func (export "drop") (param "positions" string) (result string)
    (canon lift (core func $bot "drop") (memory (core memory $bot "memory")) (realloc (core func $bot "cabi_realloc"))
      (post-return (core func $bot "cabi_post_drop"))))
  (func (export "stateless") (param "source" string) (result bool)
    (canon lift (core func $bot "stateless") (memory (core memory $bot "memory")) (realloc (core func $bot "cabi_realloc"))
      (post-return (core func $bot "cabi_post_stateless")))))
