// Package system runs the real binary in processes of its own and does to it
// what happens in production: kill -9 in the middle of everything. What the
// clients saw is judged by test/check. The tests carry the build tag system.
//
// TestKill9 has idempotent producers, TestGroups the members of a group, TestLists transactions that append to lists and read
// them, TestCopy a copy job under transactions whose processes are killed as well, TestCompacted a log that is compacted while it
// is written, TestRestartWithManyGroups a start with much to read, TestFullDisk a small file system. TestGatewayKill9 has callers of a
// gateway before the broker that is killed. TestRegistryKill9 registers schemas and pushes modules, TestPausedRegistryIsFenced does so
// while the replica that writes is stopped.
package system
