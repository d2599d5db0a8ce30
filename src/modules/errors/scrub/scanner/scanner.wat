;; Finds what an event has that did not come before. npm run gen assembles it into scanner-binary.ts.
;;
;; Memory: 16 bytes of ones and 16 of zeros at 0; levels of nesting from 32; spans from 4096; sketches from 16384; 16,384 cells of 256
;; bytes from 81920; the JSON from 4276224. It is valid UTF-8 JSON, with 32 bytes of 0x22 behind it.
;; A cell: u32 tag (bytes of the text, its kind << 8, 1 << 16), u32 meaning, then the bytes of the text, padded with zeros.
;; A span: u32 start, end and kind, and u32 start and end of the name of the root's member that it is in.
;; Kinds: 1 in personal data, 2 in code, 4 a number, 8 an entry of a list, 16 a name, 32 came before, 64 hides something for certain.
;; Meanings of names: 1 and 2, the kinds of what stands below; 4 a value, 8 what names it, 16 a part of a key, 32 what says that it is
;; one: only together do they hide something; 64 hides something.
(module
  (memory (export "memory") 82 82)
  (data (i32.const 0) "\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff")

  (global $spans (mut i32) (i32.const 0))
  (global $top (mut i32) (i32.const 0))
  (global $topEnd (mut i32) (i32.const 0))
  ;; The last member of the root of which it is known that it hides something: nothing more is asked about it.
  (global $hiding (mut i32) (i32.const 0))
  (global $sketch (mut i32) (i32.const 0))

  ;; As many bytes of the text as there are at $at, up to 16, and zeros.
  (func $chunk (param $at i32) (param $end i32) (result v128)
    (local $left i32)
    (local.set $left (i32.sub (local.get $end) (local.get $at)))
    (if (result v128) (i32.ge_u (local.get $left) (i32.const 16))
      (then (v128.load (local.get $at)))
      (else (v128.and (v128.load (local.get $at)) (v128.load (i32.sub (i32.const 16) (local.get $left)))))))

  ;; The cell for a text, and in $sketch what tells it from most others of that cell.
  (func $cell (param $at i32) (param $end i32) (param $tag i32) (result i32)
    (local $hash i64) (local $chunk v128)
    (local.set $hash (i64.mul (i64.extend_i32_u (local.get $tag)) (i64.const 0x9e3779b97f4a7c15)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $chunk (call $chunk (local.get $at) (local.get $end)))
        (local.set $hash
          (i64.mul
            (i64.xor (i64.rotl (local.get $hash) (i64.const 29)) (i64x2.extract_lane 0 (local.get $chunk)))
            (i64.const 0xbf58476d1ce4e5b9)))
        (local.set $hash
          (i64.mul
            (i64.xor (i64.rotl (local.get $hash) (i64.const 29)) (i64x2.extract_lane 1 (local.get $chunk)))
            (i64.const 0x94d049bb133111eb)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next)))
    (local.set $hash (i64.xor (local.get $hash) (i64.shr_u (local.get $hash) (i64.const 32))))
    (global.set $sketch (i32.wrap_i64 (i64.shr_u (local.get $hash) (i64.const 14))))
    (i32.add
      (i32.const 81920)
      (i32.shl (i32.and (i32.wrap_i64 (local.get $hash)) (i32.const 16383)) (i32.const 8))))

  (func $tag (param $at i32) (param $end i32) (param $kind i32) (result i32)
    (i32.or
      (i32.or (i32.sub (local.get $end) (local.get $at)) (i32.shl (local.get $kind) (i32.const 8)))
      (i32.const 65536)))

  ;; Whether the text in a cell is this one, of the same length.
  (func $holds (param $cell i32) (param $at i32) (param $end i32) (result i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (if
          (v128.any_true
            (v128.xor (call $chunk (local.get $at) (local.get $end)) (v128.load offset=8 align=8 (local.get $cell))))
          (then (return (i32.const 0))))
        (local.set $cell (i32.add (local.get $cell) (i32.const 16)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next)))
    (i32.const 1))

  (func $report (param $at i32) (param $end i32) (param $kind i32)
    (local $span i32)
    (if (i32.eq (global.get $hiding) (global.get $top)) (then (return)))
    (if (i32.and (local.get $kind) (i32.const 64)) (then (global.set $hiding (global.get $top))))
    (if (i32.lt_u (global.get $spans) (i32.const 256))
      (then
        (local.set $span (i32.add (i32.const 4096) (i32.mul (global.get $spans) (i32.const 20))))
        (i32.store (local.get $span) (local.get $at))
        (i32.store offset=4 (local.get $span) (local.get $end))
        (i32.store offset=8 (local.get $span) (local.get $kind))
        (i32.store offset=12 (local.get $span) (global.get $top))
        (i32.store offset=16 (local.get $span) (global.get $topEnd))))
    (global.set $spans (i32.add (global.get $spans) (i32.const 1))))

  ;; The meaning of a text that is known to hide nothing, or of a name. Others are reported and mean 0.
  (func $look (param $at i32) (param $end i32) (param $kind i32) (result i32)
    (local $tag i32) (local $cell i32) (local $sketch i32)
    (if (i32.le_u (i32.sub (local.get $end) (local.get $at)) (i32.const 240))
      (then
        (local.set $tag (call $tag (local.get $at) (local.get $end) (local.get $kind)))
        (local.set $cell (call $cell (local.get $at) (local.get $end) (local.get $tag)))
        (if (i32.eq (i32.load (local.get $cell)) (local.get $tag))
          (then
            (if (call $holds (local.get $cell) (local.get $at) (local.get $end))
              (then (return (i32.load offset=4 (local.get $cell)))))))
        (local.set $sketch
          (i32.add (i32.const 16384) (i32.shr_u (i32.sub (local.get $cell) (i32.const 81920)) (i32.const 6))))
        (if (i32.eq (i32.load (local.get $sketch)) (global.get $sketch))
          (then (local.set $kind (i32.or (local.get $kind) (i32.const 32))))
          (else (i32.store (local.get $sketch) (global.get $sketch))))))
    (call $report (local.get $at) (local.get $end) (local.get $kind))
    (i32.const 0))

  ;; From now on a text of at most 240 bytes is known, with its meaning, as one of this kind.
  (func (export "learn") (param $at i32) (param $end i32) (param $kind i32) (param $meaning i32)
    (local $tag i32) (local $cell i32)
    (local.set $tag (call $tag (local.get $at) (local.get $end) (local.get $kind)))
    (local.set $cell (call $cell (local.get $at) (local.get $end) (local.get $tag)))
    (i32.store (local.get $cell) (local.get $tag))
    (i32.store offset=4 (local.get $cell) (local.get $meaning))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (v128.store offset=8 align=8 (local.get $cell) (call $chunk (local.get $at) (local.get $end)))
        (local.set $cell (i32.add (local.get $cell) (i32.const 16)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next))))

  ;; Where the quote stands that closes the text at $at.
  (func $close (param $at i32) (result i32)
    (local $chunk v128) (local $found i32)
    (loop $next
      (local.set $chunk (v128.load (local.get $at)))
      (local.set $found
        (i8x16.bitmask
          (v128.or
            (i8x16.eq (local.get $chunk) (i8x16.splat (i32.const 0x22)))
            (i8x16.eq (local.get $chunk) (i8x16.splat (i32.const 0x5c))))))
      (if (i32.eqz (local.get $found))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $next)))
      (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $found))))
      (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x5c))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 2)))
          (br $next))))
    (local.get $at))

  ;; Where a number ends, and a mark if it may have 13 digits: it is as long, or has an exponent.
  (func $number (param $at i32) (result i32 i32)
    (local $start i32) (local $code i32) (local $exponent i32)
    (local.set $start (local.get $at))
    (loop $next
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (local.set $code (i32.load8_u (local.get $at)))
      (local.set $exponent
        (i32.or (local.get $exponent) (i32.eq (i32.or (local.get $code) (i32.const 0x20)) (i32.const 0x65))))
      ;; Digits, signs, dot and e: no white space, comma or bracket.
      (br_if $next
        (i32.or
          (i32.eq (i32.or (local.get $code) (i32.const 0x20)) (i32.const 0x65))
          (i32.and
            (i32.and (i32.gt_u (local.get $code) (i32.const 0x2a)) (i32.lt_u (local.get $code) (i32.const 0x3a)))
            (i32.ne (local.get $code) (i32.const 0x2c))))))
    (local.get $at)
    (i32.or
      (local.get $exponent)
      (i32.ge_u (i32.sub (local.get $at) (local.get $start)) (i32.const 13))))

  ;; Whether names of an object tell of each other: a value and what names it, a part of a key and what says that it is one.
  (func $together (param $seen i32) (result i32)
    (i32.or
      (i32.eq (i32.and (local.get $seen) (i32.const 12)) (i32.const 12))
      (i32.eq (i32.and (local.get $seen) (i32.const 48)) (i32.const 48))))

  ;; Writes spans of what is not known of the object from $at to $end, 256 of them at most, and answers how many there are; -1 when
  ;; it is nested deeper than is looked at. Of a member of the root that hides something for certain the rest is left out.
  (func (export "scan") (param $at i32) (param $end i32) (result i32)
    (local $code i32) (local $close i32) (local $level i32) (local $meaning i32) (local $long i32)
    ;; What is below or next: kinds of the level (8: it is a list), meanings seen in it, whether its name is read, kind of the value.
    (local $kind i32) (local $seen i32) (local $named i32) (local $value i32)
    (global.set $spans (i32.const 0))
    (global.set $top (i32.const 0))
    (global.set $hiding (i32.const -1))
    (local.set $level (i32.const 32))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $code (i32.load8_u (local.get $at)))
        (if (i32.eq (local.get $code) (i32.const 0x22))
          (then
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (local.set $close (call $close (local.get $at)))
            (if (i32.or (local.get $named) (i32.and (local.get $kind) (i32.const 8)))
              (then
                ;; Shorter texts hide nothing, but in a list they may name the next entry.
                (if
                  (i32.or
                    (i32.and (local.get $value) (i32.const 8))
                    (i32.ge_u (i32.sub (local.get $close) (local.get $at)) (i32.const 5)))
                  (then (drop (call $look (local.get $at) (local.get $close) (local.get $value))))))
              (else
                (if (i32.eq (local.get $level) (i32.const 40))
                  (then
                    (global.set $top (local.get $at))
                    (global.set $topEnd (local.get $close))))
                (local.set $meaning
                  (call $look (local.get $at) (local.get $close)
                    (i32.or (i32.and (local.get $kind) (i32.const 1)) (i32.const 16))))
                (local.set $named (i32.const 1))
                (local.set $value
                  (i32.or
                    (i32.and (local.get $kind) (i32.const 3))
                    (i32.and (local.get $meaning) (i32.const 3))))
                (local.set $seen (i32.or (local.get $seen) (i32.and (local.get $meaning) (i32.const 60))))
                (if (i32.or (i32.and (local.get $meaning) (i32.const 64)) (call $together (local.get $seen)))
                  (then (call $report (local.get $at) (local.get $close) (i32.const 64))))))
            (local.set $at (i32.add (local.get $close) (i32.const 1)))
            (br $next)))
        ;; Minus and digits.
        (if (i32.or (i32.eq (local.get $code) (i32.const 0x2d)) (i32.lt_u (i32.sub (local.get $code) (i32.const 0x30)) (i32.const 10)))
          (then
            (local.set $close (local.get $at))
            (call $number (local.get $at))
            (local.set $long)
            (local.set $at)
            (if (local.get $long) (then (call $report (local.get $close) (local.get $at) (i32.const 4))))
            (br $next)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (if (i32.eq (local.get $code) (i32.const 0x2c))
          (then
            (local.set $named (i32.const 0))
            (br $next)))
        ;; { and [
        (if (i32.eq (i32.and (local.get $code) (i32.const 0xdf)) (i32.const 0x5b))
          (then
            (i32.store (local.get $level) (local.get $kind))
            (i32.store offset=4 (local.get $level) (local.get $seen))
            (local.set $level (i32.add (local.get $level) (i32.const 8)))
            (if (i32.gt_u (local.get $level) (i32.const 760)) (then (return (i32.const -1))))
            (local.set $kind
              (i32.or
                (i32.and (local.get $value) (i32.const 3))
                (select (i32.const 8) (i32.const 0) (i32.eq (local.get $code) (i32.const 0x5b)))))
            (local.set $value (local.get $kind))
            (local.set $seen (i32.const 0))
            (local.set $named (i32.const 0))
            (br $next)))
        ;; } and ]; behind them comes a comma or the end of the level above.
        (if (i32.eq (i32.and (local.get $code) (i32.const 0xdf)) (i32.const 0x5d))
          (then
            (local.set $level (i32.sub (local.get $level) (i32.const 8)))
            (local.set $kind (i32.load (local.get $level)))
            (local.set $seen (i32.load offset=4 (local.get $level)))
            (local.set $value (local.get $kind))))
        (br $next)))
    (global.get $spans))
)
