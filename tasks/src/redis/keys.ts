/**
 * The version of what the keys hold. Only a change that the release before could not work with raises it: the new release
 * then brings the keys up to date and sets `schema`, and older ones write nothing more. Without `schema` it is 1.
 */
export const schemaVersion = 1;

/** All keys begin with `{tasks}:`, so that an ACL can name them with one pattern. */
export const keys = {
  /** A sorted set of all ids, in the order of the list. */
  index: '{tasks}:index',
  version: '{tasks}:version',
  schema: '{tasks}:schema',
  lastId: '{tasks}:last-id',
  /** A hash per task: this prefix and the id. The task exists if the index has its id. */
  task: '{tasks}:task:',
  /** A sorted set of the ids of removed tasks, by the time of removal. Each keeps its hash for a day. */
  removed: '{tasks}:removed',
  /** The index entries that a removal took out: this prefix and the removal. */
  removal: '{tasks}:removal:',
  /** A sorted set of the removals that can be undone, by their time. */
  removals: '{tasks}:removals',
  /** The id of the task that a form made: this prefix and a digest. */
  nonce: '{tasks}:nonce:',
  /** The key of the CSRF tokens. */
  csrfKey: '{tasks}:csrf-key',
  /** When the last backup was made: seconds since 1970. deploy/redis/backup.sh writes it. */
  backup: '{tasks}:backup',
  /** The channel on which Redis announces each new version to all replicas. */
  changes: '{tasks}:changes',
};
