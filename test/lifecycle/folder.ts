import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach } from 'vitest';

/** A new folder for each test of this file, which is removed after it. */
export function folderOfEach() {
  let path = '';
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'gw-test-'));
  });
  afterEach(() => rmSync(path, { recursive: true, force: true }));
  return {
    get path() {
      return path;
    },
    at: (...names: string[]) => join(path, ...names),
  };
}

/** A new folder for all tests of this file, which is removed after them. */
export function folderOfFile(): string {
  const path = mkdtempSync(join(tmpdir(), 'gw-test-'));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
