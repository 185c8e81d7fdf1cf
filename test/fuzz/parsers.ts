import type { Parser } from './parser.ts';
import { json, overlays, png, topics } from './parsers/content.ts';
import * as files from './parsers/files.ts';
import { http } from './parsers/http.ts';
import { cloud, enrolment, heartbeat, mqtt, tablet, tunnel } from './parsers/links.ts';

/** Every parser of foreign bytes, by the name of its folder in `hits/`. */
export const parsers: Readonly<Record<string, () => Parser | Promise<Parser>>> = {
  http,
  json: () => json,
  topics: () => topics,
  overlays: () => overlays,
  png: () => png,
  heartbeat: () => heartbeat,
  cloud: () => cloud,
  mqtt: () => mqtt,
  tunnel: () => tunnel,
  tablet: () => tablet,
  enrolment: () => enrolment,
  yaml: () => files.yaml,
  records: () => files.records,
  journal: () => files.journal,
  evidence: () => files.evidence,
  release: files.release,
  manifest: () => files.manifest,
  archive: files.archive,
  'ssh-config': () => files.sshConfigs,
  'known-hosts': () => files.knownHosts,
};
