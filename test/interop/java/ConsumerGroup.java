import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Members of a group of the consumer protocol come and go; every record is seen, and nobody stays without partitions. */
public class ConsumerGroup {
    static final int PARTITIONS = 3;
    static final int RECORDS = 300;
    static String bootstrap, topic;
    static final Set<String> seen = new TreeSet<>();

    public static void main(String[] args) {
        bootstrap = args[0];
        topic = args[1];
        try {
            comeAndGo();
        } catch (RuntimeException e) { // the launcher of single files has trouble with stack traces
            e.printStackTrace();
            System.exit(1);
        }
        System.out.println("done");
    }

    static void comeAndGo() {
        try (var first = member(topic + "-group", "consumer", null)) {
            first.subscribe(List.of(topic));
            until("the first member has all", List.of(first), () -> first.assignment().size() == PARTITIONS);
            produce(0);
            until("all is seen", List.of(first), () -> seen.size() == RECORDS);
            try (var second = member(topic + "-group", "consumer", "static")) {
                second.subscribe(new SubscriptionPattern(topic + ".*"));
                shared("two share", first, second);
                // One that speaks the classic protocol comes along, as in a rolling upgrade.
                try (var third = member(topic + "-group", "classic", null)) {
                    third.subscribe(List.of(topic));
                    shared("three share", first, second, third);
                    produce(1);
                    until("all is seen by three", List.of(first, second, third), () -> seen.size() == 2 * RECORDS);
                }
                shared("two share again", first, second);
            }
            // The static member is away for a while; its session keeps its partitions for it.
            try (var again = member(topic + "-group", "consumer", "static")) {
                again.subscribe(List.of(topic));
                shared("the static member is back", first, again);
                produce(2);
                until("all is seen by both", List.of(first, again), () -> seen.size() == 3 * RECORDS);
            }
            first.commitSync();
        }
    }

    static KafkaConsumer<String, String> member(String group, String protocol, String instance) {
        Properties c = new Properties();
        c.put("bootstrap.servers", bootstrap);
        c.put("group.id", group);
        c.put("group.protocol", protocol);
        c.put("auto.offset.reset", "earliest");
        c.put("auto.commit.interval.ms", "100");
        if (protocol.equals("classic")) {
            c.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
            c.put("heartbeat.interval.ms", "500");
        }
        if (instance != null) {
            c.put("group.instance.id", instance);
        }
        return new KafkaConsumer<>(c, new StringDeserializer(), new StringDeserializer());
    }

    static void produce(int round) {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        try (var producer = new KafkaProducer<>(p, new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < RECORDS; i++) {
                producer.send(new ProducerRecord<>(topic, round + "-" + i, "value"));
            }
        }
    }

    @SafeVarargs
    static void shared(String what, KafkaConsumer<String, String>... members) {
        until(what, List.of(members), () -> {
            int total = 0;
            for (var m : members) {
                if (m.assignment().isEmpty()) {
                    return false;
                }
                total += m.assignment().size();
            }
            return total == PARTITIONS;
        });
    }

    /** Polls all members until something holds. */
    static void until(String what, List<KafkaConsumer<String, String>> members, BooleanSupplier holds) {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!holds.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                StringBuilder has = new StringBuilder();
                members.forEach(m -> has.append(' ').append(m.assignment()));
                throw new IllegalStateException("not in a minute: " + what + "; members have" + has + ", records seen: " + seen.size());
            }
            for (var m : members) {
                for (ConsumerRecord<String, String> r : m.poll(Duration.ofMillis(50))) {
                    seen.add(r.key());
                }
            }
        }
        System.err.println(what);
    }
}
