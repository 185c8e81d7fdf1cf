import { isUtf8 } from 'node:buffer';
import type { AuditFacts, FindingCode } from './audit.result.ts';
import { checkOfFinding } from './audit.result.ts';
import { createChain } from './chain.ts';
import { checksOf, verdictOf } from './checks.ts';
import { type CloudOptions, createCloudCopy, type LocalRecords } from './cloud-copy.ts';
import { createFindings, type Findings, type Place } from './findings.ts';
import { readLinesOf } from './lines.ts';
import type { AuditOptions } from './model.ts';
import { readRecordFile } from './read-records.ts';
import { createSessions, type SessionTotals } from './sessions.ts';
import { openSources, streamSource } from './sources.ts';
import { findToken } from './tokens.ts';

/** Of the chain and its end, those that break no line of it. */
const UNBROKEN: ReadonlySet<FindingCode> = new Set(['head-behind', 'head-invalid', 'other-serial']);

/**
 * Audits the records of support sessions in a stream: their chain, their sessions, tokens in them and in logs, and the
 * copy of the cloud. Changes nothing; gw may be running. Throws FILE_UNREADABLE.
 */
export async function auditRecords(options: AuditOptions): Promise<AuditFacts> {
  const { limits, now, signal } = options;
  await using sources =
    options.input === undefined
      ? await openSources(options.records)
      : streamSource(options.records, options.input, signal);
  const findings = createFindings();
  const { files, mayHaveRotated, tornParts } = sources;
  const read = sources.head.kind === 'read' ? sources.head.value : null;
  // Records before the first are missing, whatever head.json says, when rotation cannot have removed any.
  const head = read === null || mayHaveRotated ? read : { ...read, firstSeq: 1 };
  if (sources.head.kind === 'damaged') findings.add('head-invalid', null);
  const sessions = createSessions(findings, limits);
  const chain = createChain(findings, head, sessions.unjudged);
  const local: LocalRecords | null = options.cloud === undefined ? null : new Map();
  let records = 0;
  let torn: Place | null = null;
  let isSearched = true;
  for (const file of files) {
    const found = await readRecordFile(file, { findings, chain, sessions, local, signal });
    records += found.lines - (found.torn === null ? 0 : 1);
    torn = found.torn ?? torn;
    isSearched &&= found.isSearched;
  }
  const isHeadOneBehind = chain.finish(torn);
  const first = chain.first();
  const totals = sessions.finish(now);
  const { serial } = totals.facts;
  const cloud = local === null ? null : await compareCloud(options, { findings, local, first, serial });
  const logs = await searchLogs(options, findings, totals);

  const about = { ...totals.facts, records, firstSeq: first?.seq ?? null, lastSeq: chain.last()?.seq ?? null, cloud };
  const checks = checksOf(
    {
      ...about,
      logs,
      headFirstSeq: head?.firstSeq ?? null,
      hasHead: sources.head.kind !== 'missing',
      isTorn: torn !== null,
      isHeadOneBehind,
      isSearched,
      hasLimits: limits !== null,
    },
    findings,
  );
  const listed = findings.listed();
  const broken = listed.find(({ code }) => {
    const check = checkOfFinding[code];
    return (check === 'chain' || check === 'end') && !UNBROKEN.has(code);
  });
  return {
    ...about,
    verdict: verdictOf(checks, findings),
    files: files.map(({ path, bytes }) => ({ path, bytes })),
    tornParts,
    checks,
    firstBroken: broken === undefined ? null : { file: broken.file, line: broken.line, seq: broken.seq },
    counts: findings.counts(),
    findings: listed,
    notListed: findings.notListed(),
  };
}

async function compareCloud(
  { cloud: path = '', signal }: AuditOptions,
  parts: CloudOptions,
): Promise<AuditFacts['cloud']> {
  const copy = createCloudCopy(parts);
  await readLinesOf(
    path,
    (line, at) => {
      if (line === null) parts.findings.add('cloud-invalid', at);
      else if (line.byteLength > 0) copy.take(line, at);
    },
    signal,
  );
  return { path, ...copy.finish() };
}

/** Searches log files for tokens. `isWhole`: all of them was searched. Throws FILE_UNREADABLE. */
async function searchLogs({ logs = [], signal }: AuditOptions, findings: Findings, totals: SessionTotals) {
  if (logs.length === 0) return null;
  const { tokens, channelIds } = totals;
  let isWhole = true;

  function search(line: Buffer | null, at: Place): void {
    // Not a line that is too long, nor bytes that are no text, such as those of a compressed file.
    if (line === null || line.includes(0) || !isUtf8(line)) isWhole = false;
    if (line === null) return;
    const hit = findToken(
      line.toString('latin1'),
      (own) => tokens.has(own),
      (run) => channelIds.has(run),
    );
    if (hit === null) return;
    const { isCertain, column, length } = hit;
    findings.add(isCertain ? 'token-in-log' : 'token-like-in-log', at, { values: { column, length } });
  }

  for (const path of logs) if ((await readLinesOf(path, search, signal)) === 0) isWhole = false;
  return { files: logs.length, isWhole };
}
