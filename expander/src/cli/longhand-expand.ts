#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// Otherwise stripping the types and compiling take two thirds of the start. Nobody else writes into this folder; if it
// cannot be written, there is no cache.
enableCompileCache(`${import.meta.dirname}/.cache`);
const { run } = await import('./run.ts');

process.exit(await run());
