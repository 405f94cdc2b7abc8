//! Writes the lines of a file with rskafka and reads them back, partition by partition.

use std::collections::BTreeMap;
use std::io::Write;

use rskafka::client::partition::{Compression, OffsetAt, UnknownTopicHandling};
use rskafka::client::ClientBuilder;
use rskafka::record::Record;

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().collect();
    let (bootstrap, topic, file) = (&args[1], &args[2], &args[3]);
    let content = std::fs::read(file)?;
    let content = content.strip_suffix(b"\n").unwrap_or(&content);
    let client = ClientBuilder::new(vec![bootstrap.clone()]).build().await?;
    let partitions: Vec<i32> = client
        .list_topics()
        .await?
        .into_iter()
        .find(|t| &t.name == topic)
        .map(|t| t.partitions.into_iter().collect())
        .ok_or("topic not listed")?;

    let lines: Vec<&[u8]> = content.split(|b| *b == b'\n').collect();
    let mut out = std::io::stdout().lock();
    for (slot, partition) in partitions.iter().enumerate() {
        let p = client.partition_client(topic.clone(), *partition, UnknownTopicHandling::Error).await?;
        let mine: Vec<Record> = lines
            .iter()
            .enumerate()
            .filter(|(i, _)| i % partitions.len() == slot)
            .map(|(i, line)| Record {
                key: Some(i.to_string().into_bytes()),
                value: Some(line.to_vec()),
                headers: BTreeMap::new(),
                timestamp: chrono::Utc::now(),
            })
            .collect();
        for chunk in mine.chunks(400) {
            p.produce(chunk.to_vec(), Compression::Snappy).await?;
        }
        let end = p.get_offset(OffsetAt::Latest).await?;
        let mut next = p.get_offset(OffsetAt::Earliest).await?;
        while next < end {
            let (records, _) = p.fetch_records(next, 1..1_000_000, 1_000).await?;
            for r in records {
                out.write_all(r.record.key.as_deref().unwrap_or_default())?;
                out.write_all(b"\t")?;
                out.write_all(r.record.value.as_deref().unwrap_or_default())?;
                out.write_all(b"\n")?;
                next = r.offset + 1;
            }
        }
    }
    Ok(())
}
