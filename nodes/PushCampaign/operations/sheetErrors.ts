/**
 * What Excel and other spreadsheets show for a formula without a result; of other languages than English what is met most
 * often. A list, because `#SALE!` is somebody's text.
 */
const names = `NULL! DIV/0! VALUE! REF! NAME? NUM! N/A GETTING_DATA SPILL! CONNECT! BLOCKED! UNKNOWN! FIELD! CALC!
	EXTERNAL! BUSY! PYTHON! ERROR! WERT! BEZUG! ZAHL! NV ÜBERLAUF! DATEN_ABRUFEN VALEUR! NOM? NOMBRE!
	PROPAGATION! VALOR! NOMBRE? N/D DESBORDAMIENTO! VALORE! RIF! NOME? NÚM! WAARDE! VERW! NAAM? DEEL/0! ARG! ADR!
	NAZWA? DZIEL/0! ЗНАЧ! ССЫЛКА! ИМЯ? ДЕЛ/0! Н/Д ЗНАЧЕННЯ! VÄRDEFEL! REFERENS! NAMN? DIVISION/0! SAKNAS! VÆRDI!
	REFERENCE! NAVN? I/T VERDI! ARVO! PUUTTUU! HODNOTA! ODKAZ! NEDOSTUPNÝ ÉRTÉK! DEĞER! BAŞV! YOK ΤΙΜΗ!
	VALOARE! VREDN! VRIJEDNOST! 溢出! スピル! 분산!`;

const sheetErrors: ReadonlySet<string> = new Set(names.split(/\s+/));

/** What LibreOffice writes: `Err:502`, in the languages in which it has another word. */
const numbered =
	/^(?:Err|Erro|Fout|Fel|Fejl|Feil|Virhe|Błąd|Chyba|Hiba|Hata|Ошибка|Помилка|エラー):5\d\d$/;

/** Whether a text is nothing but the error of a spreadsheet. */
export function isSheetError(text: string): boolean {
	const word = text.replace(/\s/g, '');
	const [, name] = /^#[¡¿]?(.+)$/.exec(word) ?? [];
	if (name === undefined) return numbered.test(word);
	// Some languages write what they have for `#GETTING_DATA` with an exclamation mark as well.
	return sheetErrors.has(name) || sheetErrors.has(name.replace(/!$/, ''));
}
