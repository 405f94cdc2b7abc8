import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes the lines of a file with the Java client's defaults and reads them back. */
public class Interop {
    public static void main(String[] args) throws Exception {
        String bootstrap = args[0], topic = args[1];
        List<String> lines = Files.readAllLines(Path.of(args[2]), StandardCharsets.UTF_8);
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("compression.type", "zstd");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(p, new StringSerializer(), new StringSerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int i = 0; i < lines.size(); i++) {
                sent.add(producer.send(new ProducerRecord<>(topic, Integer.toString(i), lines.get(i))));
            }
            for (Future<RecordMetadata> f : sent) {
                f.get();
            }
        }
        Properties c = new Properties();
        c.put("bootstrap.servers", bootstrap);
        c.put("enable.auto.commit", "false");
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(c, new StringDeserializer(), new StringDeserializer())) {
            List<TopicPartition> parts = new ArrayList<>();
            for (PartitionInfo i : consumer.partitionsFor(topic)) {
                parts.add(new TopicPartition(topic, i.partition()));
            }
            consumer.assign(parts);
            consumer.seekToBeginning(parts);
            Map<TopicPartition, Long> ends = consumer.endOffsets(parts);
            long left = ends.values().stream().mapToLong(Long::longValue).sum();
            while (left > 0) {
                for (var r : consumer.poll(Duration.ofSeconds(10))) {
                    out.print(r.key() + "\t" + r.value() + "\n");
                    left--;
                }
            }
        }
        out.flush();
    }
}
