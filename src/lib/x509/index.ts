/** X.509 helpers that Node's X509Certificate lacks. */
export { CERTIFICATE, certificatesOf, commonNameOf, isIssuedBy } from './certificate.ts';
export { type CertificateView, nameLine, viewCertificate } from './view.ts';
