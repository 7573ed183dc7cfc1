/**
 * What Excel and other spreadsheets show for a formula without a result, in all languages of Excel, today's names and
 * those before them. A list, because `#SALE!` is somebody's text.
 */
const names = `NULL! DIV/0! VALUE! REF! NAME? NUM! N/A GETTING_DATA SPILL! CONNECT! BLOCKED! UNKNOWN! FIELD! CALC! EXTERNAL!
	BUSY! PYTHON! TIMEOUT! ERROR! AD? ADR! ALLANOL! ANSLUT! ARG! ARVO! AT? BAHA! BALIOA! BAĞLAN! BAŞV! BEREGN!
	BEREKENEN! BEREKN! BEZUG! BLOCAT! BLOCCATA! BLOCKERAD! BLOCKIERT! BLOKEATUTA! BLOKERET! BLOKKERT! BLOKKOLVA!
	BLOKLANIB! BLOKOVANÉ! BLOKOVÁNO! BLOQUEADO! BLOQUÉ! BOŞ! BROJ! BRÚ! BUŇKA! BÊNNGOÀI! BÖKDELEN! CAMP! CAMPO!
	CHAMP! CHARGEMENT_DONNEES CONECTAR! CONECTARE! CONNEXION! CYSYLLTU! CÁLC! DATEN_ABRUFEN DATUAK_LORTZEN DAŞGYN!
	DEEL/0! DEL/0! DELENIENULOU! DELENIE_NULOU DELING.DOOR.0! DESBORDAMENT! DESBORDAMENTO! DESBORDAMIENTO!
	DESCONHECIDO! DESCONOCIDO! DESPEJAR! DEĞER! DIJ/0! DISEKAT! DIVISION/0! DIŞ! DZIEL/0! DÉVERSEMENT! DĚLENÍ_NULOU
	E/E EKSTERN! EKSTERNT! EMRI? ENGELLENDİ! ENW? EPARS! EREMUA! ERREF! ESPANDI! ESPANSIONE! ESTERNO! ESTETTY!
	ESTRAZIONE_DATI_IN_CORSO EXTERN! EXTERNE! EXTERNO! EXTERNÍ! FELD! FELT! FLÆÐIR! GAINEZKATZEA! GEBLOKKEERD!
	GEGEVENS.OPHALEN GETAL! GETTING_DAT\u0410 GWERTH! HAETAAN_TIETOJA HAITUMAKI HAWA! HENTAR_DATA HENTER_DATA HESAPLA!
	HIV! HIÁNYZIK HODNOTA! HÄMTAR_DATA I/T IME? IMEZUIWA! INAPATA_DATA INCONNU! ISMERETLEN! IWWERLAF! IZENA?
	IZPLEŠANĀS! IŠPLĖTIMAS! JAKO/0! JINA? KALK! KALKULUA! KAMPU! KANPOKOA! KAPCSOLAT! KENTTÄ! KIBONTÁS! KOBLE_TIL
	KONEKTATU! KOPLE_TIL KUAĀRAITIA! KÜLSŐ! LASKE! LEEG! LEER! LEVITTYMINEN! LICZBA! LIGAR! LIMPAH! LLIMPAY! LUAPAN!
	LUKU! MAES! MAGLUMAT_ALYNÝAR MARINGI! MENDAPATKAN_DATA MEZŐ! MWAGIKA! N/B N/D N/D! N/V NAAM? NAM! NAMA? NAMN?
	NAVN? NAZIV? NAZWA? NAČÍTÁNÍ_DAT NEDOSTUPNÉ NEDOSTUPNÝ NENÍ_K_DISPOZICI NEPLATNÝ! NIEZNANE! NILAI! NIMI? NIČ!
	NOL! NOM? NOMBRE! NOMBRE? NOME? NUL! NULLA! NULLO! NULO! NULUA! NUME? NUMMER! NV NWL! NÁZEV? NÁZOV? NÉV?
	NÔL_DATA NÚM! OBL! OBTENDO_DADOS OBTENDO_DATOS OBTENIENDO_DATOS OBTENTION_DONNEES OBTER_DADOS ODKAZ! OGILTIGT!
	OKÄNT! ONBEKEND! OORLOOP! OPRETFORBINDELSE! OVERFLYT! OVERLOPEN! OVERLØB! PJES/0! POBIERANIE_DANYCH POLE!
	POŁĄCZ! PRELIJEVANJE! PRELIVANJE! PRELUARE_DATE PRESAHOVANIE! PRIPOJIŤ! PROPAGATION! PUSTE! PUUTTUU! PŘESAH_DAT
	PŘIPOJIT! RECUPERO_DATI REFERENCE! REFERENS! RH/0! RHIF! RHWYSTRWYD! RIF! ROZLANIE! SAKNAS! SALG! SAMBUNG! SAN!
	SAN/0! SAYI! SAYI/0! SEACHTRACH! SIGURIMI_I_TË_DHËNAVE SIZMA! SKLIC! SKÄRNING! SZÁM! SZÁMÍTÁS! TAŞMA! TENGJA!
	TOM! TO‘KISH! TRANSPOSIÇÃO! TUNTEMATON! TYHJÄ! TŪHONO! UGA! UKJEND! UKJENT! ULKOINEN! UNGANISHA! VALEUR!
	VALOARE! VALOR! VALORE! VELD! VERBINDEN! VERDI! VERW! VERİLƏNLƏR_ƏLDƏ_EDİLİR VERİ_ALINIYOR VIITTAUS! VLERA!
	VREDN! VRIJEDNOST! VÁRAKOZÁS_ADATRA VÄRDEFEL! VÆRDI! VÝPOČET! VäLINE! VĂRSARE! WAARDE! WAHO! WERT! YHDISTÄ! YOK
	YTRA! ZABLOKOWANE! ZAHL! ZATI/0! ZERO! ZK! ZUNANJI! ZÉRÓOSZTÓ! ZÍSKANIE_ÚDAJOV ÉRTÉK! ÚTILOKAÐ! ÜBERLAUF! ÝOK
	ČÍSLO! ŠTEV! ΑΓΝΩΣΤΟ! ΑΝΑΦ! ΑΠΟΚΛ! ΑΡΙΘ! Δ/Υ ΔΙΑΙΡ./0! ΔΙΑΙΡ/0! ΕΚΧΥΣΗ! ΕΞΩΤΕΡΙΚΟΣ! ΚΕΝΟ! ΛΗΨΗ_ΔΕΔΟΜΕΝΩΝ ΟΝΟΜΑ?
	ΠΕΔΙΟ! ΣΥΝΔΕΣΗ! ΤΙΜΗ! ΥΠΟΛ! ІМЯ? ІМ’Я? АТРЫМАННЕ_ДАДЗЕНЫХ АТЫ? АШЫПТАШУУ! Б/Б БЕРИЛМЕ_АЛУУ БЛОКИРАНО! БОШ!
	БӨГӨЛГӨН! БӨЛ/0! ВЫЛІЧ! ВЫЧИСЛ! ДІЛЕННЯ/0! ДЕЛ/0! ДЗЯЛ/0! ЗАБЛАКІРАВАНА! ЗАБЛОКИРОВАНО! ЗАБЛОКОВАНО! ЗНАЧ!
	ЗНАЧЕННЯ! ЗОВНІШНЄ! ИМЯ? КАЙР! ЛІК! Н/Д НАДВОРЕШНО! НАРК! НЕВІДОМО! НЕВЯДОМА! НЕИЗВЕСТНО! НОМЕР! ОБЧИСЛЕННЯ!
	ОЖИДАНИЕ_ДАННЫХ ОТРИМАННЯ_ДАНИХ ПІДКЛЮЧЕННЯ! ПАДЛУЧЭННЕ! ПЕРАЦЯКАННЕ! ПЕРЕНОС! ПОДКЛЮЧ! ПОЛЕ! ПОСИЛАННЯ!
	ПРЕЛЕВАЊЕ! ПРЕЛИВАЊЕ! ПУСТА! ПУСТО! РОЗГОРТАННЯ! САН! СПАСЫЛКА! ССЫЛКА! ТАЛАА! ТАШТЫРУ! ХАЛИХ! ЧИСЛО! ЫҒЫСТЫРУ!
	ӨРІС! ԱՆՀԱՅՏ! ԱՆՈՒՆ? ԱՐԳԵԼԱՓԱԿՎԱԾ! ԱՐԺԵՔ! ԲԱԺԱՆՈՒՄ/0! ԴԱՇՏ! ԶՐՈ! ԹԻՎ! ԿԱՊԱԿՑՈՒՄ! ԿԻՌ/ՉԷ ՀԱՇՎԱՐԿ! ՀՂՈՒՄ!
	ՎԱՆԴԱԿԱՀԱՏՈՒՄ! ՏՎՅԱԼՆԵՐԻ_ՍՏԱՑՈՒՄ חיצוני! ئۇلاش! ئېنىقسىز! اسپِل! المدبالبيانات! بۆلەك! بیرونی! توسۇق! تېشىش!
	خارجي! خارجی! فیلد! قىممىتى؟! قۇرۇق! كاتەكچە/0! نامى؟? ھېسابلاش! अवरोधितकेले! आडायलां! ओतप! कनॅक्टकरचें! गळती!
	ब्लकगरियो! स्पिल! বাহ্যিক! স্পিল! ਬਾਹਰੀ! બાહ્ય! ବାହ୍ୟ! ସ୍ପିଲ୍! வெளிப்புறம்! ஸ்பில்! స్పిల్! ಬಾಹ್ಯ! ಸ್ಪಿಲ್!
	സ്‌പിൽ! අවහිරයි! කඩදාසිකූර! ක්ෂේත්‍රය! සබඳින්න! สปิลล์! გადატანა! გარე! ველი! መትረፍ! ውጫዊ! ខាងក្រៅ! ហៀរ! スピル! 已封鎖!
	溢出! 連線! 분산!`;

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
