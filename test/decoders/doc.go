// Package decoders holds the broker's validation against the decoders that consumers have: Apache Avro and protobuf-java in
// Java, fastavro and protobuf in Python. The test makes random schemas and random values of them, changes some of the
// bytes, and asks every side whether it accepts them.
//
// What Java accepts passes the level structure, except text that is no valid UTF-8, bytes behind the end of an Avro value,
// and nesting beyond the limit; what Java refuses is refused. What passes is accepted by Python too, but for the
// differences between Python and Java that the test names.
//
// The programs in Decoders.java and decoders.py read frames from their input and answer each with a byte; pom.xml and
// requirements.txt name the versions. The test carries the build tag interop. The seed is printed, and can be given in
// DECODERS_SEED; DECODERS_SECONDS is how long it runs, 20 by default.
package decoders
