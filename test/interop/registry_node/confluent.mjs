// Does what registry_clients_test.go describes with @confluentinc/schemaregistry.
//
// Takes the address of a registry and the texts of schemas in JSON, and prints a line "step<TAB>result" for each step.
import { SchemaRegistryClient } from '@confluentinc/schemaregistry'

const [url, json] = process.argv.slice(2)
const texts = JSON.parse(json)
const client = new SchemaRegistryClient({ baseURLs: [url], cacheLatestTtlSecs: 0, maxRetries: 0 })
const users = 'users-value'
const say = (step, ...result) => console.log(`${step}\t${result.join(',')}`)
const code = async (call) => {
  try {
    return `no error but ${JSON.stringify(await call())}`
  } catch (e) {
    return e.errorCode ?? e
  }
}
const avro = (text, more) => ({ schema: text, schemaType: 'AVRO', ...more })

const [v1, v2, bad] = ['v1', 'v2', 'bad'].map((name) => avro(texts[name]))
say('unknown', await code(() => client.getLatestSchemaMetadata(users)))
say('register', await client.register(users, v1))
await client.clearCaches()
say('again', await client.register(users, v1))
const found = await client.getIdFullResponse(users, v1)
say('lookup', found.id)
say('lookup version', await client.getVersion(users, v1))
say('compatible', await client.testCompatibility(users, 1, v2))
say('incompatible', await client.testSubjectCompatibility(users, bad))
say('evolve', await client.register(users, v2, true))
say('refused', await code(() => client.register(users, bad)))
say('versions', ...(await client.getAllVersions(users)))
const latest = await client.getLatestSchemaMetadata(users)
say('latest', latest.id)
say('latest version', latest.version)
await client.clearCaches()
say('by id', (await client.getBySubjectAndId(users, 1)).schema === texts.v1)
say('by guid', (await client.getByGuid(found.guid)).schema === texts.v1)

await client.updateCompatibility(users, 'NONE')
say('level', await client.getCompatibility(users))
await client.updateDefaultConfig({ compatibility: 'FULL' })
say('global level', (await client.getDefaultConfig()).compatibilityLevel)
await client.updateDefaultCompatibility('BACKWARD')

say('address', await client.register('address', avro(texts.address)))
const references = [{ name: 'n.Address', subject: 'address', version: 1 }]
say('person', await client.register('person-value', avro(texts.person, { references })))
say('delete referenced', await code(() => client.deleteSubjectVersion('address', 1)))

const contract = avro(texts.v1, {
  metadata: { properties: { owner: 'web' } },
  ruleSet: { domainRules: [{ name: 'positive', kind: 'CONDITION', mode: 'WRITE', type: 'CEL', expr: 'true' }] },
})
say('contract', await client.register('contract', contract))
const withMetadata = await client.getLatestWithMetadata('contract', { owner: 'web' })
say('with metadata', withMetadata.id)
say('rule', withMetadata.ruleSet.domainRules[0].name)
say('no metadata', await code(() => client.getLatestWithMetadata('contract', { owner: 'app' })))

say('in context', await client.register(':.other:users-value', v2))

say('delete version', await client.deleteSubjectVersion(users, 1))
say('versions left', ...(await client.getAllVersions(users)))
say('delete version for good', await client.deleteSubjectVersion(users, 1, true))
say('delete subject', ...(await client.deleteSubject(users)))
say('delete subject for good', ...(await client.deleteSubject(users, true)))
say('gone', await code(() => client.getAllVersions(users)))
say('subjects', ...(await client.getAllSubjects()))
await client.close()
