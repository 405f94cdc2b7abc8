// Does what registry_clients_test.go describes with @kafkajs/confluent-schema-registry, which knows less than the others.
//
// Takes the address of a registry and the texts of schemas in JSON, and prints a line "step<TAB>result" for each step.
import kafkajs from '@kafkajs/confluent-schema-registry'

const { COMPATIBILITY, SchemaRegistry, SchemaType } = kafkajs
const [url, json] = process.argv.slice(2)
const texts = JSON.parse(json)
const open = () => new SchemaRegistry({ host: url, retry: { retries: 0 } })
const client = open()
const users = { subject: 'users-value', compatibility: COMPATIBILITY.BACKWARD }
const say = (step, ...result) => console.log(`${step}\t${result.join(',')}`)
const avro = (text, references) => ({ type: SchemaType.AVRO, schema: text, references })

say('register', (await client.register(avro(texts.v1), users)).id)
say('again', (await open().register(avro(texts.v1), users)).id)
say('lookup', await client.getRegistryIdBySchema(users.subject, avro(texts.v1)))
say('evolve', (await client.register(avro(texts.v2), users)).id)
try {
  say('refused', `no error but ${(await client.register(avro(texts.bad), users)).id}`)
} catch (e) {
  say('refused', e.status === 409 ? 40901 : e)
}
say('latest', await client.getLatestSchemaId(users.subject))
say('by id', (await open().getSchema(1)).name === 'n.User')
say('address', (await client.register(avro(texts.address), { subject: 'address' })).id)
const references = [{ name: 'n.Address', subject: 'address', version: 1 }]
say('person', (await client.register(avro(texts.person, references), { subject: 'person-value' })).id)
