/**
 * What Excel and other spreadsheets show for a formula without a result; of other languages than English what is met most
 * often. A list, because `#SALE!` is somebody's text.
 */
const names = `NULL! DIV/0! VALUE! REF! NAME? NUM! N/A GETTING_DATA SPILL! CONNECT! BLOCKED! FIELD! CALC! BUSY!
	PYTHON! ERROR! WERT! BEZUG! ZAHL! NV ÜBERLAUF! DATEN_ABRUFEN VALEUR! NOM? PROPAGATION! VALOR! NOMBRE? N/D
	DESBORDAMIENTO! VALORE! RIF! NÚM! WAARDE! VERW! DEEL/0! ARG! ADR! ЗНАЧ! ССЫЛКА! ДЕЛ/0! Н/Д ЗНАЧЕННЯ! VÄRDEFEL!
	REFERENS! DIVISION/0! SAKNAS! VÆRDI! I/T VERDI! PUUTTUU! HODNOTA! ODKAZ! NEDOSTUPNÝ ÉRTÉK! DEĞER! BAŞV! YOK ΤΙΜΗ!
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
