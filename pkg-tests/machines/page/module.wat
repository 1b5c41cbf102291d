;; A machine with state in memory and in globals: a chain of numbers, each of which is mixed with a word of memory.
(module
  (memory (export "memory") 64)
  (global $__stack_pointer (export "__stack_pointer") (mut i32) (i32.const 65536))
  (global $state (export "state") (mut i32) (i32.const 1))
  (func (export "grow") (drop (memory.grow (i32.const 1))))
  (func (export "step") (param $n i32) (result i32)
    (local $at i32)
    (loop $again
      (global.set $state (i32.add (i32.mul (global.get $state) (i32.const 1664525)) (i32.const 1013904223)))
      (global.set $state (i32.xor (global.get $state) (i32.shr_u (global.get $state) (i32.const 15))))
      (local.set $at (i32.and (i32.shr_u (global.get $state) (i32.const 6)) (i32.const 0x3ffffc)))
      (global.set $state (i32.xor (global.get $state) (i32.load (local.get $at))))
      (i32.store (local.get $at) (global.get $state))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (global.get $state)))
