import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes the lines of a file in transactions, copies them to TOPIC-copy in others, and reads what was committed there. */
public class Transactions {
    static final Duration SHORT = Duration.ofMillis(500);
    static String bootstrap, topic, copy;

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        topic = args[1];
        copy = topic + "-copy";
        List<String> lines = Files.readAllLines(Path.of(args[2]), StandardCharsets.UTF_8);
        fence();
        write(lines);
        copyAll(lines.size());
        print();
    }

    static KafkaProducer<String, String> producer(String id) {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("transactional.id", id);
        KafkaProducer<String, String> producer = new KafkaProducer<>(p, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        return producer;
    }

    static KafkaConsumer<String, String> consumer(String group) {
        Properties c = new Properties();
        c.put("bootstrap.servers", bootstrap);
        c.put("enable.auto.commit", "false");
        c.put("isolation.level", "read_committed");
        c.put("auto.offset.reset", "earliest");
        if (group != null) {
            c.put("group.id", group);
        }
        return new KafkaConsumer<>(c, new StringDeserializer(), new StringDeserializer());
    }

    /** A second producer of the same id puts an end to the first and to what it had open. */
    static void fence() throws Exception {
        try (var old = producer(topic)) {
            old.beginTransaction();
            old.send(new ProducerRecord<>(topic, "fenced", "nobody may see this")).get();
            try (var young = producer(topic)) {
                try {
                    old.send(new ProducerRecord<>(topic, "fenced", "nor this")).get();
                    old.commitTransaction();
                    throw new IllegalStateException("the old producer goes on");
                } catch (ProducerFencedException e) {
                    // as it must be
                } catch (ExecutionException e) {
                    if (!(e.getCause() instanceof ProducerFencedException)
                            && !(e.getCause() instanceof org.apache.kafka.common.errors.InvalidProducerEpochException)) {
                        throw e;
                    }
                }
            }
        }
    }

    static void write(List<String> lines) {
        try (var producer = producer(topic)) {
            for (int from = 0; from < lines.size(); from += 1000) {
                producer.beginTransaction();
                producer.send(new ProducerRecord<>(topic, "aborted", "nobody may see this"));
                producer.flush();
                producer.abortTransaction();
                producer.beginTransaction();
                for (int i = from; i < Math.min(from + 1000, lines.size()); i++) {
                    producer.send(new ProducerRecord<>(topic, Integer.toString(i), lines.get(i)));
                }
                producer.commitTransaction();
            }
        }
    }

    static void copyAll(int count) {
        try (var producer = producer(topic + "-copier"); var consumer = consumer(topic + "-copiers")) {
            consumer.subscribe(List.of(topic));
            for (int done = 0, turn = 0; done < count;) {
                ConsumerRecords<String, String> records = consumer.poll(SHORT);
                if (records.isEmpty()) {
                    continue;
                }
                producer.beginTransaction();
                Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                for (var r : records) {
                    producer.send(new ProducerRecord<>(copy, r.key(), r.value()));
                    offsets.put(new TopicPartition(r.topic(), r.partition()), new OffsetAndMetadata(r.offset() + 1));
                }
                producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
                if (turn++ % 3 > 0) {
                    producer.commitTransaction();
                    done += records.count();
                    continue;
                }
                producer.abortTransaction();
                var committed = consumer.committed(consumer.assignment());
                for (TopicPartition p : offsets.keySet()) {
                    OffsetAndMetadata c = committed.get(p);
                    consumer.seek(p, c == null ? 0 : c.offset());
                }
            }
        }
    }

    static void print() {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        try (var consumer = consumer(null)) {
            List<TopicPartition> parts = new ArrayList<>();
            for (PartitionInfo i : consumer.partitionsFor(copy)) {
                parts.add(new TopicPartition(copy, i.partition()));
            }
            consumer.assign(parts);
            consumer.seekToBeginning(parts);
            var ends = consumer.endOffsets(parts);
            while (parts.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
                for (var r : consumer.poll(SHORT)) {
                    out.print(r.key() + "\t" + r.value() + "\n");
                }
            }
        }
        out.flush();
    }
}
