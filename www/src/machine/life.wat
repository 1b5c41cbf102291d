;; The machine: Conway's Game of Life on 2048 x 2048 cells, one byte each (0 or 1).
;;
;; All of its state is in linear memory, so a snapshot of the memory is a snapshot of the machine:
;;   0        the generation, 32 bits
;;   4        the board that is current, 0 or 1
;;   65536    board 0, row by row, 4 MiB
;;   4259840  board 1, 4 MiB, then a page that the loads of the last cells reach into
;; Rows and columns wrap around; a row continues in the next one.
(module
  (memory (export "memory") 130)
  (global $size i32 (i32.const 4194304))
  (global $width i32 (i32.const 2048))

  ;; Returns the address of a board.
  (func $board (param $which i32) (result i32)
    (i32.add (i32.const 65536) (i32.mul (local.get $which) (global.get $size))))

  ;; Returns the address of the current board.
  (func (export "cells") (result i32)
    (call $board (i32.load (i32.const 4))))

  ;; Returns the generation.
  (func (export "generation") (result i32)
    (i32.load (i32.const 0)))

  ;; Returns the sums of three neighbours in a row for eight cells, a byte each.
  (func $three (param $at i32) (result i64)
    (i64.add
      (i64.load (local.get $at))
      (i64.add
        (i64.load (i32.sub (local.get $at) (i32.const 1)))
        (i64.load (i32.add (local.get $at) (i32.const 1))))))

  ;; Computes the next generation, eight cells at a time.
  (func (export "step")
    (local $from i32) (local $to i32) (local $at i32) (local $alive i64) (local $count i64)
    (local.set $from (call $board (i32.load (i32.const 4))))
    (i32.store (i32.const 4) (i32.xor (i32.load (i32.const 4)) (i32.const 1)))
    (local.set $to (call $board (i32.load (i32.const 4))))
    (loop $next
      (local.set $alive (i64.load (i32.add (local.get $from) (local.get $at))))
      (local.set $count
        (i64.sub
          (i64.add
            (call $three (i32.add (local.get $from) (local.get $at)))
            (i64.add
              (call $three (i32.add (local.get $from)
                (i32.and (i32.sub (local.get $at) (global.get $width)) (i32.sub (global.get $size) (i32.const 1)))))
              (call $three (i32.add (local.get $from)
                (i32.and (i32.add (local.get $at) (global.get $width)) (i32.sub (global.get $size) (i32.const 1)))))))
          (local.get $alive)))
      ;; A cell lives if three neighbours do, or two and it does: if count | alive is 3. A byte of the difference to 3 plus 127
      ;; has its highest bit set unless the difference is 0.
      (i64.store (i32.add (local.get $to) (local.get $at))
        (i64.and
          (i64.shr_u
            (i64.xor
              (i64.add
                (i64.xor (i64.or (local.get $count) (local.get $alive)) (i64.const 0x0303030303030303))
                (i64.const 0x7f7f7f7f7f7f7f7f))
              (i64.const -1))
            (i64.const 7))
          (i64.const 0x0101010101010101)))
      (br_if $next
        (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (global.get $size))))
    (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))))
