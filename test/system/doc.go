// Package system runs the real binary in processes of its own and does to it
// what happens in production: kill -9 in the middle of everything. What the
// clients saw is judged by test/check. The tests carry the build tag system.
package system
