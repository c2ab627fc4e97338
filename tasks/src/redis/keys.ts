/**
 * The version of the data format. Raise it only for a change that the previous release cannot work with. The new release
 * then migrates the keys and sets `schema`, and older releases stop writing. A missing `schema` means 1.
 */
export const schemaVersion = 1;

/** The keys and the channel `changes`; CONTRIBUTING.md describes them. One ACL pattern covers the prefix `{tasks}:`. */
export const keys = {
  index: '{tasks}:index',
  version: '{tasks}:version',
  schema: '{tasks}:schema',
  lastId: '{tasks}:last-id',
  task: '{tasks}:task:',
  removed: '{tasks}:removed',
  removal: '{tasks}:removal:',
  removals: '{tasks}:removals',
  nonce: '{tasks}:nonce:',
  csrfKey: '{tasks}:csrf-key',
  /** deploy/redis/backup.sh writes it. */
  backup: '{tasks}:backup',
  changes: '{tasks}:changes',
};
