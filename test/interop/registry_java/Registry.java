import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.avro.AvroSchema;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.CachedSchemaRegistryClient;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.SchemaMetadata;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.Config;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.Metadata;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.Rule;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.RuleKind;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.RuleMode;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.RuleSet;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.SchemaReference;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.exceptions.RestClientException;

/**
 * Does what registry_clients_test.go describes with Confluent's client for Java.
 *
 * <p>Takes the address of a registry and the texts v1, v2, bad, address and person, and prints a line "step TAB result" for each
 * step.
 */
public class Registry {
    private interface Call {
        Object run() throws Exception;
    }

    private static void say(String step, Object result) {
        String text = result instanceof Collection<?> c
                ? c.stream().map(String::valueOf).collect(Collectors.joining(","))
                : String.valueOf(result);
        System.out.println(step + "\t" + text);
    }

    private static Object code(Call call) throws Exception {
        try {
            return "no error but " + call.run();
        } catch (RestClientException e) {
            return e.getErrorCode();
        }
    }

    public static void main(String[] args) throws Exception {
        String users = "users-value", first = args[1];
        try (CachedSchemaRegistryClient client = new CachedSchemaRegistryClient(args[0], 100)) {
            AvroSchema v1 = new AvroSchema(first), v2 = new AvroSchema(args[2]), bad = new AvroSchema(args[3]);
            say("unknown", code(() -> client.getLatestSchemaMetadata(users)));
            say("register", client.register(users, v1));
            client.reset();
            say("again", client.register(users, v1));
            client.reset();
            say("lookup", client.getId(users, v1));
            say("lookup version", client.getVersion(users, v1));
            say("compatible", client.testCompatibility(users, v2));
            say("incompatible", client.testCompatibilityVerbose(users, bad).isEmpty());
            say("evolve", client.register(users, v2, true));
            say("refused", code(() -> client.register(users, bad)));
            say("versions", client.getAllVersions(users));
            SchemaMetadata latest = client.getLatestSchemaMetadata(users);
            say("latest", latest.getId());
            say("latest version", latest.getVersion());
            client.reset();
            say("by id", client.getSchemaById(1).canonicalString().equals(first));
            say("subjects of id", client.getAllSubjectsById(1));
            List<String> uses = new ArrayList<>();
            client.getAllVersionsById(1).forEach(v -> uses.add(v.getSubject() + "/" + v.getVersion()));
            say("versions of id", uses);

            client.updateConfig(users, new Config("NONE"));
            say("level", client.getConfig(users).getCompatibilityLevel());
            client.deleteConfig(users);
            say("no level", code(() -> client.getConfig(users)));
            client.updateConfig(null, new Config("FULL"));
            say("global level", client.getConfig(null).getCompatibilityLevel());
            client.updateConfig(null, new Config("BACKWARD"));

            say("address", client.register("address", new AvroSchema(args[4])));
            AvroSchema person = new AvroSchema(
                    args[5], List.of(new SchemaReference("n.Address", "address", 1)), Map.of("n.Address", args[4]), null);
            say("person", client.register("person-value", person));
            say("delete referenced", code(() -> client.deleteSchemaVersion("address", "1", false)));

            Rule rule = new Rule("positive", null, RuleKind.CONDITION, RuleMode.WRITE, "CEL", null, null, "true", null, null, false);
            AvroSchema contract = v1.copy(new Metadata(null, Map.of("owner", "web"), null), new RuleSet(List.of(), Arrays.asList(rule)));
            say("contract", client.register("contract", contract));
            SchemaMetadata found = client.getLatestWithMetadata("contract", Map.of("owner", "web"), false);
            say("with metadata", found.getId());
            say("rule", found.getRuleSet().getDomainRules().get(0).getName());
            say("no metadata", code(() -> client.getLatestWithMetadata("contract", Map.of("owner", "app"), false)));

            say("in context", client.register(":.other:users-value", v2));

            client.setMode("READONLY", users);
            say("mode", client.getMode(users));
            say("read only", code(() -> client.register(users, bad)));
            client.deleteMode(users);
            say("global mode", client.getMode());
            client.setMode("IMPORT", "moved");
            say("import", client.register("moved", new AvroSchema(args[3]), 7, 100));

            say("delete version", client.deleteSchemaVersion(users, "1", false));
            say("versions left", client.getAllVersions(users));
            say("deleted versions", client.getAllVersions(users, true));
            say("delete version for good", client.deleteSchemaVersion(users, "1", true));
            say("delete subject", client.deleteSubject(users, false));
            say("delete subject for good", client.deleteSubject(users, true));
            say("gone", code(() -> client.getAllVersions(users)));
            say("subjects", client.getAllSubjects());
        }
    }
}
