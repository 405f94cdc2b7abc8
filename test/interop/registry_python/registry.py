"""Does what registry_clients_test.go describes with the client of confluent-kafka.

Takes the address of a registry and the texts of schemas in JSON, and prints a line "step<TAB>result" for each step.
"""

import json
import sys

from confluent_kafka.schema_registry import (
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    Rule,
    RuleKind,
    RuleMode,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    ServerConfig,
)
from confluent_kafka.schema_registry.error import SchemaRegistryError

url, texts = sys.argv[1], json.loads(sys.argv[2])
client = SchemaRegistryClient({"url": url})
users = "users-value"


def say(step, *result):
    print(step, ",".join(str(r) for r in result), sep="\t")


def code(call, *args, **kwargs):
    try:
        return f"no error but {call(*args, **kwargs)}"
    except SchemaRegistryError as e:
        return e.error_code


v1, v2, bad = (Schema(texts[name]) for name in ("v1", "v2", "bad"))
say("unknown", code(client.get_latest_version, users))
say("register", client.register_schema(users, v1))
client.clear_caches()
say("again", client.register_schema(users, v1))
found = client.lookup_schema(users, v1)
say("lookup", found.schema_id)
say("lookup version", found.version)
say("compatible", str(client.test_compatibility(users, v2)).lower())
say("incompatible", str(client.test_compatibility_all_versions(users, bad)).lower())
say("evolve", client.register_schema(users, v2, normalize_schemas=True))
say("refused", code(client.register_schema, users, bad))
say("versions", *client.get_versions(users))
latest = client.get_latest_version(users)
say("latest", latest.schema_id)
say("latest version", latest.version)
client.clear_caches()
say("by id", str(client.get_schema(1).schema_str == texts["v1"]).lower())
say("by guid", str(client.get_schema_by_guid(found.guid).schema_str == texts["v1"]).lower())
say("subjects of id", *client.get_subjects_by_schema_id(1))
say("versions of id", *(f"{v.subject}/{v.version}" for v in client.get_schema_versions(1)))

client.set_compatibility(users, "NONE")
say("level", client.get_compatibility(users))
client.delete_config(users)
say("no level", code(client.get_config, users))
client.set_config(config=ServerConfig(compatibility=ConfigCompatibilityLevel.FULL))
say("global level", client.get_config().compatibility_level.value)
client.set_compatibility(level="BACKWARD")

say("address", client.register_schema("address", Schema(texts["address"])))
person = Schema(texts["person"], "AVRO", [SchemaReference("n.Address", "address", 1)])
say("person", client.register_schema("person-value", person))
say("referenced by", *client.get_referenced_by("address", 1))
say("delete referenced", code(client.delete_version, "address", 1))

rule = Rule("positive", None, RuleKind.CONDITION, RuleMode.WRITE, "CEL", None, None, "true", None, None, False)
contract = Schema(
    texts["v1"], "AVRO", [], Metadata(None, MetadataProperties({"owner": "web"}), None), RuleSet([], [rule])
)
say("contract", client.register_schema("contract", contract))
with_metadata = client.get_latest_with_metadata("contract", {"owner": "web"})
say("with metadata", with_metadata.schema_id)
say("rule", with_metadata.schema.rule_set.domain_rules[0].name)
say("no metadata", code(client.get_latest_with_metadata, "contract", {"owner": "app"}))

say("in context", client.register_schema(":.other:users-value", v2))
say("contexts", *client.get_contexts())

client.update_mode(users, "READONLY")
say("mode", client.get_mode(users))
say("read only", code(client.register_schema, users, Schema(texts["bad"])))
client.delete_mode(users)
say("global mode", client.get_global_mode())

say("delete version", client.delete_version(users, 1))
say("versions left", *client.get_versions(users))
say("deleted versions", *client.get_versions(users, deleted=True))
say("delete version for good", client.delete_version(users, 1, permanent=True))
say("delete subject", *client.delete_subject(users))
say("delete subject for good", *client.delete_subject(users, permanent=True))
say("gone", code(client.get_versions, users))
say("subjects", *client.get_subjects())
