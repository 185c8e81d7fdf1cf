import { isUtf8 } from 'node:buffer';
import type { Head } from '../records/pointers.ts';
import { checksOf, verdictOf } from './checks.ts';
import { createCloudCopy } from './cloud/cloud-copy.ts';
import { createLocalIndex, type LocalIndex } from './cloud/local-index.ts';
import { readLinesOf } from './files/lines.ts';
import { openSources, type Sources, streamSource } from './files/sources.ts';
import { createFindings, type Findings, type Place } from './findings.ts';
import { type AuditFacts, type AuditOptions, type CloudFacts, chainCodes, type FindingCode } from './model.ts';
import { type Chain, createChain } from './records/chain.ts';
import { readRecordFile } from './records/read-records.ts';
import { createSessions, type SessionTotals } from './records/sessions.ts';
import { findToken } from './tokens/tokens.ts';

const CHAIN_CODES: ReadonlySet<FindingCode> = new Set(chainCodes);

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
  const head = sources.head.kind === 'read' ? withinRotation(sources.head.value, sources) : null;
  if (sources.head.kind === 'damaged') findings.add('head-invalid', null);
  const sessions = createSessions(findings, limits);
  const chain = createChain(findings, head, sessions.unjudged);
  const local = options.cloud === undefined ? null : createLocalIndex();
  let records = 0;
  let torn: Place | null = null;
  let isSearched = true;
  for (const file of sources.files) {
    const read = await readRecordFile(file, { findings, chain, sessions, local, signal });
    records += read.lines - (read.torn === null ? 0 : 1);
    torn = read.torn ?? torn;
    isSearched &&= read.isSearched;
  }
  const isHeadOneBehind = chain.finish(torn);
  const first = chain.first();
  const totals = sessions.finish(now);
  const cloud = local === null ? null : await compareCloud(options, { findings, local, chain, totals });
  const logs = await searchLogs(options, findings, totals);

  const { starts, refused, tokens: _tokens, channelIds: _ids, ...rest } = totals;
  const [firstSeq, lastSeq] = [first?.seq ?? null, chain.last()?.seq ?? null];
  const { running, unknownDurations } = totals;
  const about = {
    records,
    firstSeq,
    lastSeq,
    headFirstSeq: head?.firstSeq ?? null,
    running,
    unknownDurations,
    logs,
    cloud,
  };
  const checks = checksOf(
    {
      ...about,
      hasHead: sources.head.kind !== 'missing',
      isTorn: torn !== null,
      isHeadOneBehind,
      isSearched,
      hasLimits: limits !== null,
    },
    findings,
  );
  const listed = findings.listed();
  const broken = listed.find(({ code }) => CHAIN_CODES.has(code));
  return {
    verdict: verdictOf(checks, findings),
    ...rest,
    files: sources.files.map(({ path, bytes }) => ({ path, bytes })),
    records,
    firstSeq,
    lastSeq,
    sessions: starts,
    refused: [...refused].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count),
    tornParts: sources.tornParts,
    cloud,
    checks,
    firstBroken: broken === undefined ? null : { file: broken.file, line: broken.line, seq: broken.seq },
    counts: findings.counts(),
    findings: listed,
    notListed: findings.notListed(),
  };
}

/** Records before the first are missing, whatever head.json says, when rotation cannot have removed any. */
function withinRotation(head: Head, { mayHaveRotated }: Sources): Head {
  return mayHaveRotated ? head : { ...head, firstSeq: 1 };
}

interface ComparedParts {
  readonly findings: Findings;
  readonly local: LocalIndex;
  readonly chain: Chain;
  readonly totals: SessionTotals;
}

async function compareCloud(
  { cloud: path = '', signal }: AuditOptions,
  { findings, local, chain, totals }: ComparedParts,
): Promise<CloudFacts> {
  const firstPrev = chain.first()?.prev ?? null;
  const copy = createCloudCopy({ findings, local, serial: totals.serial, firstPrev });
  await readLinesOf(
    path,
    (line, at) => {
      if (line === null) findings.add('cloud-invalid', at);
      else if (line.byteLength > 0) copy.take(line, at);
    },
    signal,
  );
  return { path, ...copy.finish() };
}

async function searchLogs({ logs = [], signal }: AuditOptions, findings: Findings, totals: SessionTotals) {
  if (logs.length === 0) return null;
  let isWhole = true;
  for (const path of logs) isWhole = (await searchLog(path, totals, findings, signal)) && isWhole;
  return { files: logs.length, isWhole };
}

/**
 * Searches a log file for tokens. Returns whether all of it was searched: not an empty file, a line that is too long, nor
 * bytes that are no text, such as those of a compressed file. Throws FILE_UNREADABLE.
 */
async function searchLog(
  path: string,
  { tokens, channelIds }: Pick<SessionTotals, 'tokens' | 'channelIds'>,
  findings: Findings,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let isWhole = true;
  const bytes = await readLinesOf(
    path,
    (line, at) => {
      if (line === null) {
        isWhole = false;
        return;
      }
      if (line.includes(0) || !isUtf8(line)) isWhole = false;
      const hit = findToken(
        line.toString('latin1'),
        (own) => tokens.has(own),
        (run) => channelIds.has(run),
      );
      if (hit === null) return;
      const { isCertain, column, length } = hit;
      findings.add(isCertain ? 'token-in-log' : 'token-like-in-log', at, { values: { column, length } });
    },
    signal,
  );
  return isWhole && bytes > 0;
}
