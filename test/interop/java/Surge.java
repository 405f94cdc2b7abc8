import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A member of a group that prints what it gets: "A partition", "D partition offset", and "C partition offset" once a commit is done. */
public class Surge {
    public static void main(String[] args) throws Exception {
        Properties p = new Properties();
        p.put("bootstrap.servers", args[0]);
        p.put("group.id", args[1]);
        p.put("enable.auto.commit", "false");
        p.put("auto.offset.reset", "earliest");
        p.put("session.timeout.ms", "6000");
        p.put("heartbeat.interval.ms", "300");
        p.put("max.poll.records", "20");
        p.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
        var consumer = new KafkaConsumer<>(p, new StringDeserializer(), new StringDeserializer());
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.wakeup();
            try {
                main.join();
            } catch (InterruptedException e) {
                // it ends anyway
            }
        }));
        Map<TopicPartition, OffsetAndMetadata> done = new HashMap<>(); // and not committed
        consumer.subscribe(List.of(args[2]), new ConsumerRebalanceListener() {
            public void onPartitionsAssigned(Collection<TopicPartition> got) {
                got.forEach(t -> System.out.println("A " + t.partition()));
            }

            public void onPartitionsRevoked(Collection<TopicPartition> lost) {
                done.keySet().removeAll(lost); // the next owner makes up for it
            }
        });
        try {
            while (true) {
                for (var r : consumer.poll(Duration.ofMillis(200))) {
                    System.out.println("D " + r.partition() + " " + r.offset());
                    done.put(new TopicPartition(r.topic(), r.partition()), new OffsetAndMetadata(r.offset() + 1));
                }
                try {
                    consumer.commitSync(done);
                    done.forEach((t, o) -> System.out.println("C " + t.partition() + " " + o.offset()));
                    done.clear();
                } catch (CommitFailedException | RebalanceInProgressException e) {
                    // tried again after the next poll, also when that brings nothing: there may be no more records
                }
            }
        } catch (WakeupException e) {
            // it was asked to end
        } finally {
            consumer.close();
        }
    }
}
