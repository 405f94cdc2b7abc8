// Package position reads the grammar in which users say where in a topic to
// begin and to stop: offsets, counts from either end, and times.
//
//	start        the first record there is
//	end          behind the last one
//	7            the offset 7
//	+7, -7       7 behind the start, 7 before the end
//	@T           the first record at or after the time T
//	FROM:TO      from there up to, not including, TO; either may be missing
//	@T1:T2       the same with times; T2 may be end
//
// A time is a count of milliseconds (13 digits) or seconds (9 or 10 digits)
// since 1970, a day (2026-01-02), an RFC 3339 time, or a duration from now
// (-1h, 90s, -2d).
//
// Parsing is pure; what the words mean in a topic is looked up by the caller.
package position
