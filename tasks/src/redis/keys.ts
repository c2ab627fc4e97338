/**
 * The version of the data format. Raise it only for a change that the previous release cannot work with: the new release
 * then migrates the keys and sets `schema`, and older releases write nothing more. A missing `schema` means 1.
 */
export const schemaVersion = 1;

/** All keys begin with `{tasks}:`, so one ACL pattern covers them. */
export const keys = {
  /** A sorted set of all ids, in list order. */
  index: '{tasks}:index',
  version: '{tasks}:version',
  schema: '{tasks}:schema',
  lastId: '{tasks}:last-id',
  /** Prefix of a task's hash. A task exists if the index has its id. */
  task: '{tasks}:task:',
  /** A sorted set of removed ids by time of removal. Their hashes are kept for a day. */
  removed: '{tasks}:removed',
  /** Prefix of a removal: the index entries that it removed. */
  removal: '{tasks}:removal:',
  /** A sorted set of the removals that can be undone, by time. */
  removals: '{tasks}:removals',
  /** Prefix of a form's digest: the id of the task that it added. */
  nonce: '{tasks}:nonce:',
  csrfKey: '{tasks}:csrf-key',
  /** When the last backup was made: seconds since 1970. deploy/redis/backup.sh writes it. */
  backup: '{tasks}:backup',
  /** The channel that announces each new version to all replicas. */
  changes: '{tasks}:changes',
};
