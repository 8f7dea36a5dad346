//! Splits appends into parts that the store accepts: an append has a bound, and images are large.

use std::sync::Arc;

use buddy_protocol::Event;

/// The maximum size of the image text in one append. Everything else in an event is small in comparison.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Splits events into parts of at most `most` events and within the size bound. An event above the bound is a
/// part by itself.
pub(crate) fn parts(events: &[Arc<Event>], most: usize) -> Vec<Vec<Arc<Event>>> {
    let mut parts: Vec<Vec<Arc<Event>>> = Vec::new();
    let mut size = 0;
    for event in events {
        let weight = weight(event);
        match parts.last_mut() {
            Some(part) if part.len() < most && size + weight <= MOST_BYTES => {
                size += weight;
                part.push(event.clone());
            }
            _ => {
                size = weight;
                parts.push(vec![event.clone()]);
            }
        }
    }
    parts
}

fn weight(event: &Event) -> usize {
    let images = event.fact.item().map(|item| item.content.images()).unwrap_or_default();
    images.iter().map(|image| image.data.text().len()).sum()
}

#[cfg(test)]
mod tests {
    use buddy_protocol::{
        Base64, Content, Fact, Image, ImageType, Item, ItemEnded, ItemStatus, SessionId, UnixMillis,
    };

    use super::*;

    fn event(seq: u64, bytes: usize) -> Arc<Event> {
        let data = Base64::from("A".repeat(bytes));
        let image = Image { name: None, media_type: ImageType::Png, width: 1, height: 1, data };
        let content =
            Content::UserMessage { text: String::new(), images: vec![image], ran: None, typed: None };
        let item = Item {
            id: format!("itm_{seq:026}").parse().unwrap(),
            turn: None,
            step: None,
            place: None,
            parent: None,
            status: ItemStatus::Completed,
            content,
            private: None,
        };
        let session: SessionId = "ses_00000000000000000000000001".parse().unwrap();
        let fact = Fact::ItemEnded(ItemEnded { item });
        Arc::new(Event { session, seq: Some(seq), time: UnixMillis(0), by: None, fact })
    }

    #[test]
    fn every_event_is_in_one_part_and_no_part_is_too_large() {
        let sizes = [1, MOST_BYTES / 2, MOST_BYTES / 2, MOST_BYTES * 2, 1, 1, 1];
        let events: Vec<Arc<Event>> = sizes.iter().zip(1..).map(|(size, seq)| event(seq, *size)).collect();
        let made = parts(&events, 2);
        let counts: Vec<usize> = made.iter().map(Vec::len).collect();
        assert_eq!(counts, [2, 1, 1, 2, 1]);
        assert_eq!(made.concat(), events);
        assert!(parts(&[], 2).is_empty());
    }
}
