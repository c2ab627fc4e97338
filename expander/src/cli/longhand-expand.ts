#!/usr/bin/env node
import { run } from './run.ts';

process.exit(await run());
