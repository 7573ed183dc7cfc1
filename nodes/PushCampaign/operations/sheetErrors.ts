/**
 * What Excel and other spreadsheets show for a formula without a result, in the languages that most people have them in.
 * A list, because `#SALE!` is somebody's text.
 */
const names = `NULL! DIV/0! VALUE! REF! NAME? NUM! N/A GETTING_DATA SPILL! CONNECT! BLOCKED! UNKNOWN! FIELD! CALC! EXTERNAL!
	BUSY! PYTHON! TIMEOUT! ERROR! WERT! BEZUG! ZAHL! NV ÜBERLAUF! KALK! FELD! DATEN_ABRUFEN NUL! VALEUR! NOM? NOMBRE!
	PROPAGATION! NULO! VALOR! NOMBRE? N/D DESBORDAMIENTO! CÁLC! NULLO! VALORE! RIF! NOME? ESPANSIONE! NÚM! DESPEJAR!
	LEEG! DEEL/0! WAARDE! VERW! NAAM? GETAL! N/B OVERLOPEN! ZERO! DZIEL/0! ARG! ADR! NAZWA? LICZBA! ROZLANIE! ПУСТО!
	ДЕЛ/0! ЗНАЧ! ССЫЛКА! ИМЯ? ЧИСЛО! Н/Д ПЕРЕНОС! ДІЛЕННЯ/0! ЗНАЧЕННЯ! ПОСИЛАННЯ! ІМ’Я? SKÄRNING! DIVISION/0!
	VÄRDEFEL! REFERENS! NAMN? OGILTIGT! SAKNAS! VÆRDI! REFERENCE! NAVN? I/T OVERLØB! VERDI! OVERFLYT! TYHJÄ! JAKO/0!
	ARVO! VIITTAUS! NIMI? LUKU! PUUTTUU! DĚLENÍ_NULOU HODNOTA! ODKAZ! NÁZEV? ČÍSLO! NENÍ_K_DISPOZICI PŘESAH_DAT NÁZOV?
	NEDOSTUPNÝ NULLA! ZÉRÓOSZTÓ! ÉRTÉK! HIV! NÉV? SZÁM! HIÁNYZIK KIBONTÁS! BOŞ! SAYI/0! DEĞER! BAŞV! AD? SAYI! YOK
	TAŞMA! ΚΕΝΟ! ΔΙΑΙΡ/0! ΤΙΜΗ! ΑΝΑΦ! ΟΝΟΜΑ? ΑΡΙΘ! Δ/Υ VALOARE! NUME? VREDN! SKLIC! VRIJEDNOST! 溢出! スピル! 분산!`;

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
