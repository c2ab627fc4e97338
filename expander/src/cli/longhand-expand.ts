#!/usr/bin/env node
import module from 'node:module';

// npx ignores `engines` in package.json. Older versions lack functions that the command imports.
const minimum = { major: 22, minor: 3 };
// `localeCompare` would load collation rules, which takes 8 ms.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < minimum.major || (major === minimum.major && minor < minimum.minor)) {
  console.error(
    `longhand-expand needs Node ${minimum.major}.${minimum.minor} or later. This is Node ${process.versions.node}.`,
  );
  process.exit(1);
}

// The compile cache saves two thirds of the startup time. Node skips it if the folder is not writable.
module.enableCompileCache(`${import.meta.dirname}/.cache`);
const { run } = await import('./run.ts');

process.exit(await run());
