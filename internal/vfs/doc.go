// Package vfs is the file system as the log sees it: every byte that the broker's storage reads or writes passes through FS.
//
// OS is the real one. MemFS lives in memory and remembers what was made durable, so that a test can cut the power
// (MemFS.CrashClone) at any moment. Faulty wraps either and injects errors, delays, flipped bits and a full disk, and counts
// operations, so that a test can visit every crash point.
//
// Called by broker/storage and, for small files, by any room that keeps some. The package starts no goroutines. Start reading at
// fs.go; the crash model is described at MemFS.
package vfs
