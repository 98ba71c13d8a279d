import { type Module, stringOf, withKey } from './pdfium-module.ts';

const LINK = 2; // FPDF_ANNOT_LINK
const POPUP = 16; // FPDF_ANNOT_POPUP: the window of another annotation
const ATTACHMENT = 17; // FPDF_ANNOT_FILEATTACHMENT
const WIDGET = 20; // FPDF_ANNOT_WIDGET: a form field
const [PUSH_BUTTON, CHECK_BOX, RADIO_BUTTON, SIGNATURE] = [1, 2, 3, 7]; // FPDF_FORMFIELD_…

/** No page has as many. */
export const ANNOTATIONS_MAX = 5_000;

export interface PageExtras {
  /** Filled-in form fields, "name: value" each. */
  readonly fields: readonly string[];
  /** Notes on the page. */
  readonly notes: readonly string[];
  /** Handles of files that are pinned to the page; they hold while the document is open. */
  readonly attachments: readonly number[];
  /** Annotations beyond the limit. */
  readonly left: number;
}

/** What people add to a page: values of form fields, notes, files. @param form a form environment; 0 for none */
export function pageExtras(module: Module, page: number, form: number): PageExtras {
  const { wasmExports: calls } = module;
  const fields = new Set<string>();
  const notes: string[] = [];
  const attachments: number[] = [];
  const count = Math.max(0, calls.FPDFPage_GetAnnotCount(page));
  for (let index = 0; index < Math.min(count, ANNOTATIONS_MAX); index++) {
    const annotation = calls.FPDFPage_GetAnnot(page, index);
    if (annotation === 0) continue;
    const subtype = calls.FPDFAnnot_GetSubtype(annotation);
    if (subtype === WIDGET) {
      const field = fieldText(module, annotation, form);
      if (field !== '') fields.add(field);
    } else if (subtype !== LINK && subtype !== POPUP) {
      if (subtype === ATTACHMENT) {
        const file = calls.FPDFAnnot_GetFileAttachment(annotation);
        if (file !== 0) attachments.push(file);
      }
      const text = entry(module, annotation, 'Contents');
      const author = entry(module, annotation, 'T');
      if (text !== '') notes.push(author === '' ? `Note: ${text}` : `Note by ${author}: ${text}`);
    }
    calls.FPDFPage_CloseAnnot(annotation);
  }
  return { fields: [...fields], notes, attachments, left: Math.max(0, count - ANNOTATIONS_MAX) };
}

function entry(module: Module, annotation: number, key: string): string {
  const { wasmExports: calls } = module;
  return withKey(module, key, (name) =>
    stringOf(module, (buffer, bytes) => calls.FPDFAnnot_GetStringValue(annotation, name, buffer, bytes)),
  )
    .replace(/\r\n?/g, '\n')
    .trim();
}

/** Empty for a field without a value, and for a box that is not ticked. */
function fieldText(module: Module, annotation: number, form: number): string {
  const { wasmExports: calls } = module;
  if (form === 0) return '';
  const type = calls.FPDFAnnot_GetFormFieldType(form, annotation);
  if (type === PUSH_BUTTON || type === SIGNATURE) return '';
  const text = (
    get: 'FPDFAnnot_GetFormFieldName' | 'FPDFAnnot_GetFormFieldAlternateName' | 'FPDFAnnot_GetFormFieldValue',
  ) => stringOf(module, (buffer, bytes) => calls[get](form, annotation, buffer, bytes)).trim();
  const name = text('FPDFAnnot_GetFormFieldAlternateName') || text('FPDFAnnot_GetFormFieldName');
  const isBox = type === CHECK_BOX || type === RADIO_BUTTON;
  const state = isBox ? entry(module, annotation, 'AS') : '';
  const isTicked = calls.FPDFAnnot_IsChecked(form, annotation) || !/^(off)?$/i.test(state);
  if (isBox && !isTicked) return '';
  const value = text('FPDFAnnot_GetFormFieldValue');
  const shown = isBox && /^(on|off|yes|true|1|)$/i.test(value) ? 'yes' : value;
  return shown === '' ? '' : name === '' ? shown : `${name}: ${shown}`;
}
