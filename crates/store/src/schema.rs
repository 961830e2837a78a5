//! The database's form, in steps. A step is never changed once it was released: the next form is a further step.

use rusqlite::{Connection, TransactionBehavior};

/// In the file's header: this is a history of linerate (`LnRt`).
pub(crate) const APPLICATION_ID: i32 = 0x4c6e_5274;

/// Step n leads from form n to form n + 1.
pub(crate) const STEPS: &[&str] = &[include_str!("schema.sql"), include_str!("schema-2.sql")];

/// The form that this program reads and writes.
pub(crate) const FORM: i64 = STEPS.len() as i64;

/// How a file relates to the steps.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it should be.
    Current,
    /// Steps are missing.
    Older(i64),
    /// Further steps than ours.
    Newer(i64),
    /// Somebody else's database.
    Foreign,
}

/// The form of an open database: `PRAGMA user_version` and `application_id`. An empty database is ours at form 0. Asked within a
/// transaction: these are several reads.
pub(crate) fn form(db: &Connection, steps: &[&str]) -> rusqlite::Result<Form> {
    let number = |pragma: &str| db.pragma_query_value(None, pragma, |r| r.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let known = steps.len() as i64;
    if application == 0 && version == 0 {
        let things: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
        return Ok(if things == 0 { Form::Older(0) } else { Form::Foreign });
    }
    Ok(match version {
        _ if application != i64::from(APPLICATION_ID) => Form::Foreign,
        v if v == known => Form::Current,
        v if v > known => Form::Newer(v),
        v if v < 1 => Form::Foreign,
        v => Form::Older(v),
    })
}

/// Takes the steps that are missing, each in a transaction of its own. Several programs may do so at once: the form is asked again
/// under the lock.
pub(crate) fn migrate(db: &mut Connection, steps: &[&str]) -> rusqlite::Result<Form> {
    loop {
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let Form::Older(from) = form(&tx, steps)? else {
            let form = form(&tx, steps)?;
            tx.rollback()?;
            return Ok(form);
        };
        if let Some(step) = usize::try_from(from).ok().and_then(|n| steps.get(n)) {
            tx.execute_batch(step)?;
        }
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", from + 1)?;
        tx.commit()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Connection {
        Connection::open_in_memory().unwrap()
    }

    #[test]
    fn steps_are_taken_once_and_in_order() {
        let steps = [
            "CREATE TABLE a (x ANY) STRICT;",
            "CREATE TABLE b (y ANY) STRICT; INSERT INTO b SELECT x FROM a;",
            "ALTER TABLE b ADD COLUMN z ANY;",
        ];
        let mut db = memory();
        assert_eq!(migrate(&mut db, &steps[..1]).unwrap(), Form::Current);
        db.execute("INSERT INTO a VALUES (7)", []).unwrap();
        assert_eq!(form(&db, &steps).unwrap(), Form::Older(1));
        assert_eq!(migrate(&mut db, &steps).unwrap(), Form::Current);
        assert_eq!(migrate(&mut db, &steps).unwrap(), Form::Current);
        assert_eq!(db.query_row("SELECT y FROM b WHERE z IS NULL", [], |r| r.get::<_, i64>(0)).unwrap(), 7);
        assert_eq!(form(&db, &steps[..2]).unwrap(), Form::Newer(3));
        assert_eq!(migrate(&mut db, &steps[..2]).unwrap(), Form::Newer(3));
    }

    #[test]
    fn a_step_that_fails_changes_nothing() {
        let mut db = memory();
        let steps = ["CREATE TABLE a (x ANY) STRICT;", "CREATE TABLE b (y ANY) STRICT; CREATE TABLE a (x ANY) STRICT;"];
        migrate(&mut db, &steps[..1]).unwrap();
        assert!(migrate(&mut db, &steps).is_err());
        assert_eq!(form(&db, &steps).unwrap(), Form::Older(1));
        let b: i64 = db.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'b'", [], |r| r.get(0)).unwrap();
        assert_eq!(b, 0);
    }

    #[test]
    fn a_database_of_others_is_foreign() {
        let mut db = memory();
        db.execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert_eq!(migrate(&mut db, STEPS).unwrap(), Form::Foreign);
        let mut db = memory();
        db.pragma_update(None, "application_id", 99).unwrap();
        assert_eq!(migrate(&mut db, STEPS).unwrap(), Form::Foreign);
        let mut db = memory();
        db.pragma_update(None, "user_version", -3).unwrap();
        db.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        assert_eq!(migrate(&mut db, STEPS).unwrap(), Form::Foreign);
    }
}
