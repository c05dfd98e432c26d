#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| airlock_fuzzed::two_sides(bytes));
