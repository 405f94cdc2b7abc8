// Package controller decides about the cluster: it creates and deletes topics, places replicas, grows topics, changes
// dynamic configuration, elects leaders, reassigns replicas, registers brokers and gives out blocks of producer ids.
//
// Every decision is a pure function of an image and a request, which returns a Plan: metadata transactions whose compares
// hold only while the image was right about what the decision rests on. Controller runs plans against a store, decides
// anew when a compare failed, and returns once its own image shows the result. Values of dynamic configuration are
// checked by the caller; topic names, counts and assignments here.
//
// Invariants: a topic is shown whole or not at all, also when a crash comes between two transactions of a plan (Sweep
// finishes what was left); the leader epoch of a topic name never goes back, also when the topic is deleted and created
// again; replica limits hold exactly.
//
// The package starts no goroutine. Start reading in create_topic.go and controller.go.
package controller
