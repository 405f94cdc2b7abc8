// Package confluent holds the registry against the data with which Confluent's schema registry tests itself: which changes of a JSON
// or Protobuf schema it calls compatible, and the GUIDs that it gives. The data is not part of this repository: the test, which carries
// the build tag confluent, reads it from the checkout of that registry that MOLDAU_CONFLUENT names.
package confluent
