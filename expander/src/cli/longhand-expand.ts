#!/usr/bin/env node
import module from 'node:module';

// npx ignores `engines` in package.json. Older versions lack functions that the command imports.
const minimum = '22.3';
if (process.versions.node.localeCompare(minimum, 'en', { numeric: true }) < 0) {
  console.error(`longhand-expand needs Node ${minimum} or later. This is Node ${process.versions.node}.`);
  process.exit(1);
}

// The compile cache saves two thirds of the startup time. Node skips it if the folder is not writable.
module.enableCompileCache(`${import.meta.dirname}/.cache`);
const { run } = await import('./run.ts');

process.exit(await run());
