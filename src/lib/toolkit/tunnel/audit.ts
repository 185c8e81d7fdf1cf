import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { GwError } from '../../error/index.ts';
import {
  auditDocument,
  auditInformation,
  auditTexts,
  checkText,
  findingText,
  type Language,
  writeDocumentAs,
} from '../../report/index.ts';
import { loadSite, type Site, timeZoneOf } from '../../site/index.ts';
import {
  type AuditFacts,
  type AuditLimits,
  auditRecords,
  RECORDS_FOLDER,
  type TunnelAudit,
} from '../../tunnel/audit/index.ts';
import { writeDocument } from '../document-file.ts';
import { conclude } from '../verdict.ts';

export interface TunnelAuditOptions {
  /** Folder or file of the records; by default that of the site file. */
  readonly records?: string | undefined;
  /** Read instead, as joined files. */
  readonly input?: Readable | undefined;
  readonly cloud?: string | undefined;
  readonly logs?: readonly string[] | undefined;
  /** Absent: the configured limits are not checked. */
  readonly sitePath?: string | undefined;
  readonly report?: { readonly path: string; readonly format: 'html' | 'pdf'; readonly fontsDir: string } | undefined;
  /** Of the report. */
  readonly lang: Language;
  readonly force?: boolean;
  readonly now: () => Date;
  readonly signal?: AbortSignal;
}

/**
 * Audits the records of the support sessions. Findings are a result, not an error. Throws SITE_FILE_NOT_FOUND,
 * SITE_FILE_INVALID, USAGE, FILE_UNREADABLE, FILE_EXISTS, FILE_UNWRITABLE.
 */
export async function auditSessions(options: TunnelAuditOptions): Promise<TunnelAudit> {
  const { cloud, input, logs = [], sitePath, report, lang, now, signal, force = false } = options;
  const site = sitePath === undefined ? null : await loadSite(sitePath);
  const here = site === null ? null : join(site.stateDir, RECORDS_FOLDER);
  const recordsPath = input === undefined ? (options.records ?? here) : 'stdin';
  if (recordsPath === null) {
    throw new GwError('USAGE', 'Neither records nor a site file given.', {
      remedy: 'Add --records PATH or --site FILE.',
    });
  }
  const limits = site === null ? null : limitsOf(site);
  const madeAt = now();
  const found = await auditRecords({ records: recordsPath, input, cloud, logs, limits, now: madeAt, signal });
  const facts = { ...found, verdict: verdictOf(found) };
  const audit = { ...withTexts(facts), local: found.verdict };
  const about = { recordsPath, logs: [...logs] };
  if (report === undefined) return { ...audit, ...about, report: null };
  const { path, format, fontsDir } = report;
  const model = auditDocument({ ...facts, logs }, { lang, madeAt, timeZone: timeZoneOf(site) });
  const { content, pages, replacedCharacters } = await writeDocumentAs(model, format, fontsDir);
  const bytes = await writeDocument(path, content, { force });
  return { ...audit, ...about, report: { path, format, lang, bytes, pages, replacedCharacters } };
}

/** Of every check, those included that need a copy of the cloud, a log or a site file. */
function verdictOf({ verdict, checks }: AuditFacts): AuditFacts['verdict'] {
  if (verdict !== 'ok') return verdict;
  return conclude(checks) === 'ok' ? 'ok' : 'not-decided';
}

function limitsOf({ chassis, cloud }: Site): AuditLimits | null {
  if (cloud?.tunnel === undefined) return null;
  const { maxMinutes, services } = cloud.tunnel;
  return { serial: chassis.serial, maxMinutes, services, region: cloud.region };
}

/** English sentences, as every command prints them; the report has its own language. */
function withTexts(facts: AuditFacts): Omit<TunnelAudit, 'recordsPath' | 'logs' | 'report' | 'local'> {
  const texts = auditTexts.en;
  return {
    ...facts,
    checks: facts.checks.map((check) => ({ ...check, title: texts.check[check.id], text: checkText(check, texts) })),
    findings: facts.findings.map((finding) => ({ ...finding, ...findingText(finding, texts) })),
    information: auditInformation({ ...facts, logs: [] }, texts),
  };
}
