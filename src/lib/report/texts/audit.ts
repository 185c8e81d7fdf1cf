import type { Language } from '../document.ts';
import { auditDe } from './audit.de.ts';
import { auditEn } from './audit.en.ts';

export type AuditTexts = typeof auditEn;
export const auditTexts: Readonly<Record<Language, AuditTexts>> = { de: auditDe, en: auditEn };
