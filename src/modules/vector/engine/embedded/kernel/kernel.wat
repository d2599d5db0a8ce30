;; What every search spends its time on. npm run gen assembles it into kernel-binary.ts.
;;
;; A row of the first pass: f32 scale, f32 residual, f32 norm, i32 sum of the values, then the int8 values, padded with zeros to 32.
;; Its bounds: |row . query - scale * queryScale * (int8 . int16)| <= residual * queryNorm + (norm + residual) * querySlack.
;; Why they hold is said in quantize.ts.
(module
  (import "env" "memory" (memory 1))

  ;; Whether "scan" multiplies by 7-bit digits of the query (1) or by its int16 values (0); the products are the same. Where the
  ;; processor multiplies and adds four bytes at once (VNNI, ARM's SDOT), digits take 10 ns for a row of 256 in place of 16, and 26 in
  ;; place of 33 for one of 768; where V8 makes it of several instructions (the same processor, --no-enable-avx-vnni) 20 and 51.
  (global $digits (export "digits") (mut i32) (i32.const 0))
  (start $choose)

  ;; That of several instructions adds pairs of products in 16 bits, which are too few for those of -128 and 255.
  (func $choose
    (global.set $digits
      (i32.ne
        (i32.const -65536)
        (i32x4.extract_lane 0
          (i32x4.relaxed_dot_i8x16_i7x16_add_s
            (i8x16.splat (i32.const -128)) (i8x16.splat (i32.const 255)) (v128.const i32x4 0 0 0 0))))))

  ;; Splits each of $bytes / 2 int16 values, plus 8192, into its low and its high 7 bits: of 16 values 16 bytes each, by turns.
  (func $split (param $values i32) (param $bytes i32) (param $to i32)
    (local $end i32) (local $a v128) (local $b v128)
    (local.set $end (i32.add (local.get $values) (local.get $bytes)))
    (loop $next
      (local.set $a (i16x8.add (v128.load (local.get $values)) (i16x8.splat (i32.const 8192))))
      (local.set $b (i16x8.add (v128.load offset=16 (local.get $values)) (i16x8.splat (i32.const 8192))))
      (v128.store (local.get $to)
        (i8x16.narrow_i16x8_u
          (v128.and (local.get $a) (i16x8.splat (i32.const 127)))
          (v128.and (local.get $b) (i16x8.splat (i32.const 127)))))
      (v128.store offset=16 (local.get $to)
        (i8x16.narrow_i16x8_u
          (i16x8.shr_u (local.get $a) (i32.const 7))
          (i16x8.shr_u (local.get $b) (i32.const 7))))
      (local.set $to (i32.add (local.get $to) (i32.const 32)))
      (br_if $next
        (i32.lt_u (local.tee $values (i32.add (local.get $values) (i32.const 32))) (local.get $end)))))

  ;; Writes {u32 row, u32 unused, f64 upper, f64 lower} for each row whose upper bound reaches $threshold, answers how many.
  ;; With a $list (of u32 row numbers, rising), only its rows are looked at; without one (0), rows 0 to $count - 1.
  ;; $through: 1 reads a word of each 64 bytes between the rows of a list, so that the processor goes on fetching ahead. It ends up
  ;; in the unused field, or the compiler might leave the reading out.
  ;; At $query are as many int16 values as a row has, from -8191 to 8191; the 8 KiB behind the first 8 are for their digits.
  ;; $squared: 0 bounds the product itself, 1 bounds 2 * product - norm^2, which orders rows as the negative distance does.
  (func (export "scan")
    (param $rows i32) (param $stride i32) (param $list i32) (param $through i32) (param $count i32)
    (param $query i32) (param $queryScale f64) (param $queryNorm f64) (param $querySlack f64)
    (param $squared i32) (param $threshold f64) (param $out i32)
    (result i32)
    (local $i i32) (local $row i32) (local $at i32) (local $end i32) (local $q i32) (local $o i32)
    (local $low v128) (local $high v128) (local $low2 v128) (local $high2 v128)
    (local $norm f64) (local $residual f64) (local $middle f64) (local $error f64) (local $read i32)
    (local $x v128) (local $bias i32) (local $by i32)
    (local.set $by (global.get $digits))
    (if (local.get $by)
      (then
        (call $split
          (local.get $query)
          (i32.shl (i32.sub (local.get $stride) (i32.const 16)) (i32.const 1))
          (i32.add (local.get $query) (i32.const 8192)))
        (local.set $query (i32.add (local.get $query) (i32.const 8192)))))
    (local.set $o (local.get $out))
    (local.set $end (i32.const -1))
    (block $done
      (br_if $done (i32.eqz (local.get $count)))
      (loop $next
        (local.set $row (local.get $i))
        (if (local.get $list)
          (then
            (local.set $row
              (i32.load (i32.add (local.get $list) (i32.shl (local.get $i) (i32.const 2)))))))
        (local.set $at (i32.add (local.get $rows) (i32.mul (local.get $row) (local.get $stride))))
        (if (i32.and (local.get $through) (i32.lt_u (local.get $end) (local.get $at)))
          (then
            (loop $between
              (local.set $read (i32.or (local.get $read) (i32.load (local.get $end))))
              (br_if $between
                (i32.lt_u (local.tee $end (i32.add (local.get $end) (i32.const 64))) (local.get $at))))))
        (local.set $end (i32.add (local.get $at) (local.get $stride)))
        (local.set $residual (f64.promote_f32 (f32.load offset=4 (local.get $at))))
        (local.set $norm (f64.promote_f32 (f32.load offset=8 (local.get $at))))
        (local.set $middle (f64.mul (f64.promote_f32 (f32.load (local.get $at))) (local.get $queryScale)))
        (local.set $bias (i32.shl (i32.load offset=12 (local.get $at)) (i32.const 13)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (local.set $q (local.get $query))
        (local.set $low (v128.const i32x4 0 0 0 0))
        (local.set $high (v128.const i32x4 0 0 0 0))
        (local.set $low2 (v128.const i32x4 0 0 0 0))
        (local.set $high2 (v128.const i32x4 0 0 0 0))
        (if (local.get $by)
          (then
            (loop $values
              (local.set $x (v128.load (local.get $at)))
              (local.set $low
                (i32x4.relaxed_dot_i8x16_i7x16_add_s
                  (local.get $x) (v128.load (local.get $q)) (local.get $low)))
              (local.set $high
                (i32x4.relaxed_dot_i8x16_i7x16_add_s
                  (local.get $x) (v128.load offset=16 (local.get $q)) (local.get $high)))
              (local.set $x (v128.load offset=16 (local.get $at)))
              (local.set $low2
                (i32x4.relaxed_dot_i8x16_i7x16_add_s
                  (local.get $x) (v128.load offset=32 (local.get $q)) (local.get $low2)))
              (local.set $high2
                (i32x4.relaxed_dot_i8x16_i7x16_add_s
                  (local.get $x) (v128.load offset=48 (local.get $q)) (local.get $high2)))
              (local.set $q (i32.add (local.get $q) (i32.const 64)))
              (br_if $values
                (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 32))) (local.get $end))))
            ;; The sum over int8 * (128 high + low - 8192): single terms may overflow, what they come to together does not.
            (local.set $high (i32x4.shl (local.get $high) (i32.const 7)))
            (local.set $high2 (i32x4.shl (local.get $high2) (i32.const 7))))
          (else
            (local.set $bias (i32.const 0))
            (loop $values
              (local.set $low
                (i32x4.add (local.get $low)
                  (i32x4.dot_i16x8_s (v128.load8x8_s (local.get $at)) (v128.load (local.get $q)))))
              (local.set $high
                (i32x4.add (local.get $high)
                  (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 (local.get $at)) (v128.load offset=16 (local.get $q)))))
              (local.set $low2
                (i32x4.add (local.get $low2)
                  (i32x4.dot_i16x8_s (v128.load8x8_s offset=16 (local.get $at)) (v128.load offset=32 (local.get $q)))))
              (local.set $high2
                (i32x4.add (local.get $high2)
                  (i32x4.dot_i16x8_s (v128.load8x8_s offset=24 (local.get $at)) (v128.load offset=48 (local.get $q)))))
              (local.set $q (i32.add (local.get $q) (i32.const 64)))
              (br_if $values
                (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 32))) (local.get $end))))))
        (local.set $low
          (i32x4.add
            (i32x4.add (local.get $low) (local.get $low2))
            (i32x4.add (local.get $high) (local.get $high2))))
        (local.set $middle
          (f64.mul (local.get $middle)
            (f64.convert_i32_s
              (i32.sub
                (i32.add
                  (i32.add (i32x4.extract_lane 0 (local.get $low)) (i32x4.extract_lane 1 (local.get $low)))
                  (i32.add (i32x4.extract_lane 2 (local.get $low)) (i32x4.extract_lane 3 (local.get $low))))
                (local.get $bias)))))
        (local.set $error
          (f64.add
            (f64.mul (local.get $residual) (local.get $queryNorm))
            (f64.mul (f64.add (local.get $norm) (local.get $residual)) (local.get $querySlack))))
        (if (local.get $squared)
          (then
            (local.set $norm (f64.mul (local.get $norm) (local.get $norm)))
            (local.set $middle
              (f64.sub (f64.add (local.get $middle) (local.get $middle)) (local.get $norm)))
            ;; the norm was rounded to f32: its square is off by less than 2^-21 of it
            (local.set $error
              (f64.add (f64.add (local.get $error) (local.get $error))
                (f64.mul (local.get $norm) (f64.const 0x1p-21))))))
        (if (f64.ge (f64.add (local.get $middle) (local.get $error)) (local.get $threshold))
          (then
            (i32.store (local.get $o) (local.get $row))
            (i32.store offset=4 (local.get $o) (local.get $read))
            (f64.store offset=8 (local.get $o) (f64.add (local.get $middle) (local.get $error)))
            (f64.store offset=16 (local.get $o) (f64.sub (local.get $middle) (local.get $error)))
            (local.set $o (i32.add (local.get $o) (i32.const 24)))))
        (br_if $next
          (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $count)))))
    (i32.div_u (i32.sub (local.get $o) (local.get $out)) (i32.const 24)))

  ;; Writes the numbers of the bits that are set in $count words, less $before, and answers how many there are.
  (func (export "list") (param $words i32) (param $count i32) (param $before i32) (param $out i32) (result i32)
    (local $rest i32) (local $first i32) (local $at i32) (local $end i32)
    (local.set $at (local.get $out))
    (local.set $end (i32.add (local.get $words) (i32.shl (local.get $count) (i32.const 2))))
    (local.set $first (i32.sub (i32.const 0) (local.get $before)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $words) (local.get $end)))
        (local.set $rest (i32.load (local.get $words)))
        (block $empty
          (br_if $empty (i32.eqz (local.get $rest)))
          (loop $bits
            (i32.store (local.get $at) (i32.add (local.get $first) (i32.ctz (local.get $rest))))
            (local.set $at (i32.add (local.get $at) (i32.const 4)))
            (br_if $bits
              (local.tee $rest (i32.and (local.get $rest) (i32.sub (local.get $rest) (i32.const 1)))))))
        (local.set $first (i32.add (local.get $first) (i32.const 32)))
        (local.set $words (i32.add (local.get $words) (i32.const 4)))
        (br $next)))
    (i32.shr_u (i32.sub (local.get $at) (local.get $out)) (i32.const 2)))

  ;; The exact sums in f64 over an f32 row and an f64 query, both padded with zeros; $bytes of the row is a multiple of 16.
  (func (export "dot") (param $row i32) (param $query i32) (param $bytes i32) (result f64)
    (local $end i32) (local $low v128) (local $high v128) (local $x v128)
    (local.set $end (i32.add (local.get $row) (local.get $bytes)))
    (loop $next
      (local.set $x (v128.load (local.get $row)))
      (local.set $low
        (f64x2.add (local.get $low)
          (f64x2.mul (f64x2.promote_low_f32x4 (local.get $x)) (v128.load (local.get $query)))))
      (local.set $high
        (f64x2.add (local.get $high)
          (f64x2.mul
            (f64x2.promote_low_f32x4 (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $x) (local.get $x)))
            (v128.load offset=16 (local.get $query)))))
      (local.set $query (i32.add (local.get $query) (i32.const 32)))
      (br_if $next
        (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 16))) (local.get $end))))
    (local.set $low (f64x2.add (local.get $low) (local.get $high)))
    (f64.add (f64x2.extract_lane 0 (local.get $low)) (f64x2.extract_lane 1 (local.get $low))))

  (func (export "squaredNorm") (param $row i32) (param $bytes i32) (result f64)
    (local $end i32) (local $low v128) (local $high v128) (local $x v128) (local $v v128)
    (local.set $end (i32.add (local.get $row) (local.get $bytes)))
    (loop $next
      (local.set $x (v128.load (local.get $row)))
      (local.set $v (f64x2.promote_low_f32x4 (local.get $x)))
      (local.set $low (f64x2.add (local.get $low) (f64x2.mul (local.get $v) (local.get $v))))
      (local.set $v
        (f64x2.promote_low_f32x4 (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $x) (local.get $x))))
      (local.set $high (f64x2.add (local.get $high) (f64x2.mul (local.get $v) (local.get $v))))
      (br_if $next
        (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 16))) (local.get $end))))
    (local.set $low (f64x2.add (local.get $low) (local.get $high)))
    (f64.add (f64x2.extract_lane 0 (local.get $low)) (f64x2.extract_lane 1 (local.get $low))))

  (func (export "squaredDistance") (param $row i32) (param $query i32) (param $bytes i32) (result f64)
    (local $end i32) (local $low v128) (local $high v128) (local $x v128) (local $v v128)
    (local.set $end (i32.add (local.get $row) (local.get $bytes)))
    (loop $next
      (local.set $x (v128.load (local.get $row)))
      (local.set $v (f64x2.sub (f64x2.promote_low_f32x4 (local.get $x)) (v128.load (local.get $query))))
      (local.set $low (f64x2.add (local.get $low) (f64x2.mul (local.get $v) (local.get $v))))
      (local.set $v
        (f64x2.sub
          (f64x2.promote_low_f32x4 (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $x) (local.get $x)))
          (v128.load offset=16 (local.get $query))))
      (local.set $high (f64x2.add (local.get $high) (f64x2.mul (local.get $v) (local.get $v))))
      (local.set $query (i32.add (local.get $query) (i32.const 32)))
      (br_if $next
        (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 16))) (local.get $end))))
    (local.set $low (f64x2.add (local.get $low) (local.get $high)))
    (f64.add (f64x2.extract_lane 0 (local.get $low)) (f64x2.extract_lane 1 (local.get $low))))

  ;; The largest absolute value of an f32 row; $bytes is a multiple of 64, as for "quantize".
  (func (export "largest") (param $row i32) (param $bytes i32) (result f32)
    (local $end i32) (local $max v128)
    (local.set $end (i32.add (local.get $row) (local.get $bytes)))
    (loop $next
      (local.set $max (f32x4.max (local.get $max) (f32x4.abs (v128.load (local.get $row)))))
      (br_if $next
        (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 16))) (local.get $end))))
    (f32.max
      (f32.max (f32x4.extract_lane 0 (local.get $max)) (f32x4.extract_lane 1 (local.get $max)))
      (f32.max (f32x4.extract_lane 2 (local.get $max)) (f32x4.extract_lane 3 (local.get $max)))))

  ;; Writes round($row * $inverse) as int8, before it their sum, and answers the sum over (row * $factor - $scale * int8)^2 in f64.
  (func (export "quantize")
    (param $row i32) (param $bytes i32) (param $target i32)
    (param $inverse f32) (param $factor f64) (param $scale f64)
    (result f64)
    (local $end i32) (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $sum v128)
    (local $x v128) (local $values v128) (local $header i32)
    (local.set $header (i32.sub (local.get $target) (i32.const 16)))
    (local.set $end (i32.add (local.get $row) (local.get $bytes)))
    (loop $next
      (local.set $a (call $round (v128.load (local.get $row)) (local.get $inverse)))
      (local.set $b (call $round (v128.load offset=16 (local.get $row)) (local.get $inverse)))
      (local.set $c (call $round (v128.load offset=32 (local.get $row)) (local.get $inverse)))
      (local.set $d (call $round (v128.load offset=48 (local.get $row)) (local.get $inverse)))
      (local.set $x
        (i8x16.narrow_i16x8_s
          (i16x8.narrow_i32x4_s (i32x4.trunc_sat_f32x4_s (local.get $a)) (i32x4.trunc_sat_f32x4_s (local.get $b)))
          (i16x8.narrow_i32x4_s (i32x4.trunc_sat_f32x4_s (local.get $c)) (i32x4.trunc_sat_f32x4_s (local.get $d)))))
      (v128.store (local.get $target) (local.get $x))
      (local.set $values
        (i32x4.add (local.get $values)
          (i32x4.extadd_pairwise_i16x8_s (i16x8.extadd_pairwise_i8x16_s (local.get $x)))))
      (local.set $sum
        (f64x2.add (local.get $sum)
          (call $left (v128.load (local.get $row)) (local.get $a) (local.get $factor) (local.get $scale))))
      (local.set $sum
        (f64x2.add (local.get $sum)
          (call $left (v128.load offset=16 (local.get $row)) (local.get $b) (local.get $factor) (local.get $scale))))
      (local.set $sum
        (f64x2.add (local.get $sum)
          (call $left (v128.load offset=32 (local.get $row)) (local.get $c) (local.get $factor) (local.get $scale))))
      (local.set $sum
        (f64x2.add (local.get $sum)
          (call $left (v128.load offset=48 (local.get $row)) (local.get $d) (local.get $factor) (local.get $scale))))
      (local.set $target (i32.add (local.get $target) (i32.const 16)))
      (br_if $next
        (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 64))) (local.get $end))))
    (i32.store offset=12 (local.get $header)
      (i32.add
        (i32.add (i32x4.extract_lane 0 (local.get $values)) (i32x4.extract_lane 1 (local.get $values)))
        (i32.add (i32x4.extract_lane 2 (local.get $values)) (i32x4.extract_lane 3 (local.get $values)))))
    (f64.add (f64x2.extract_lane 0 (local.get $sum)) (f64x2.extract_lane 1 (local.get $sum))))

  (func $round (param $x v128) (param $inverse f32) (result v128)
    (f32x4.max (f32x4.splat (f32.const -127))
      (f32x4.min (f32x4.splat (f32.const 127))
        (f32x4.nearest (f32x4.mul (local.get $x) (f32x4.splat (local.get $inverse)))))))

  ;; Per pair of lanes the sum of ($x * $factor - $scale * $rounded)^2.
  (func $left (param $x v128) (param $rounded v128) (param $factor f64) (param $scale f64) (result v128)
    (local $low v128) (local $high v128)
    (local.set $low
      (f64x2.sub
        (f64x2.mul (f64x2.promote_low_f32x4 (local.get $x)) (f64x2.splat (local.get $factor)))
        (f64x2.mul (f64x2.promote_low_f32x4 (local.get $rounded)) (f64x2.splat (local.get $scale)))))
    (local.set $x (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $x) (local.get $x)))
    (local.set $rounded
      (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $rounded) (local.get $rounded)))
    (local.set $high
      (f64x2.sub
        (f64x2.mul (f64x2.promote_low_f32x4 (local.get $x)) (f64x2.splat (local.get $factor)))
        (f64x2.mul (f64x2.promote_low_f32x4 (local.get $rounded)) (f64x2.splat (local.get $scale)))))
    (f64x2.add
      (f64x2.mul (local.get $low) (local.get $low))
      (f64x2.mul (local.get $high) (local.get $high))))

  ;; Nothing but reading, for the benchmark: as fast as this machine's memory allows a thread.
  (func (export "read") (param $from i32) (param $bytes i32) (result i32)
    (local $end i32) (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local.set $end (i32.add (local.get $from) (local.get $bytes)))
    (loop $next
      (local.set $a (v128.or (local.get $a) (v128.load (local.get $from))))
      (local.set $b (v128.or (local.get $b) (v128.load offset=16 (local.get $from))))
      (local.set $c (v128.or (local.get $c) (v128.load offset=32 (local.get $from))))
      (local.set $d (v128.or (local.get $d) (v128.load offset=48 (local.get $from))))
      (br_if $next
        (i32.lt_u (local.tee $from (i32.add (local.get $from) (i32.const 64))) (local.get $end))))
    (i32x4.extract_lane 0
      (v128.or (v128.or (local.get $a) (local.get $b)) (v128.or (local.get $c) (local.get $d)))))
)
