"""The built-in words of questionnaires and reports, in four languages.

A test checks that every language has every word, and every sentence the same figures. Other
languages use the English words, and `lint` warns, until the questionnaire gives `[words]`.
"""

from deniable.surveys.questionnaire.page_words import english, french, german, spanish

ENGLISH = {
    **english.PAGE,
    "yes": "yes",
    "no": "no",
    "prefer_not_to_say": "prefer not to say",
    "mean": "mean",
    "about": "about {number}",
    "respondents": "{number} respondents",
    "reports": "{number} reports",
    "careless": "{label}, careless answers taken out: {value} ± {margin}",
    "if_denied": "if this share of the people concerned denied it: {list}",
    "if_lied": "{label}, if this share of all people lied: {list}",
    "range": "{low} to {high}",
    "inconsistent": (
        "{value}: inconsistent with the design (unbiased estimate {raw}, p-value {p_value})"
    ),
    "attention": (
        "{question}: by this control question {share} ± {margin} (95 %) of the respondents "
        "are attentive."
    ),
    "proof_yes_no": (
        "Of 100 people whose true answer is {yes}, {p} send {yes}; of 100 whose true answer is "
        "{no}, {q} send {yes}. A {yes} from you is not proof: it multiplies anyone's odds "
        "about you by at most {odds}."
    ),
    "proof_choice": (
        "Of 100 people, {p} send their true answer, and {q} send each of the {others} other "
        "answers. What you send is not proof: it multiplies anyone's odds about you by at most "
        "{odds}."
    ),
    "proof_boxes": (
        "Of 100 people who tick a box, {p} send it ticked; of 100 who do not tick it, {q} send "
        "it ticked. What you send is not proof: one box multiplies anyone's odds about you by "
        "at most {box_odds}, all {boxes} boxes together by at most {odds}."
    ),
    "proof_other": (
        "What you send is drawn at random around your answer. It is not proof: it multiplies "
        "anyone's odds about you by at most {odds}."
    ),
}

GERMAN = {
    **german.PAGE,
    "yes": "ja",
    "no": "nein",
    "prefer_not_to_say": "keine Angabe",
    "mean": "Mittelwert",
    "about": "etwa {number}",
    "respondents": "{number} Befragte",
    "reports": "{number} Meldungen",
    "careless": "{label}, ohne achtlose Antworten: {value} ± {margin}",
    "if_denied": "falls so viele der Betroffenen es abgestritten haben: {list}",
    "if_lied": "{label}, falls so viele von allen falsch geantwortet haben: {list}",
    "range": "{low} bis {high}",
    "inconsistent": (
        "{value}: unvereinbar mit dem Verfahren (unverzerrte Schätzung {raw}, p-Wert {p_value})"
    ),
    "attention": (
        "{question}: Nach dieser Kontrollfrage antworten {share} ± {margin} (95 %) der "
        "Befragten aufmerksam."
    ),
    "proof_yes_no": (
        "Von 100 Menschen, deren wahre Antwort {yes} ist, senden {p} {yes}; von 100, deren "
        "wahre Antwort {no} ist, senden {q} {yes}. Ein {yes} von Ihnen ist kein Beweis: Es "
        "verschiebt die Chancen, die jemand für Ihre Antwort sieht, höchstens {odds} zu 1."
    ),
    "proof_choice": (
        "Von 100 Menschen senden {p} ihre wahre Antwort und {q} jede der {others} anderen. Was "
        "Sie senden, ist kein Beweis: Es verschiebt die Chancen, die jemand für Ihre Antwort "
        "sieht, höchstens {odds} zu 1."
    ),
    "proof_boxes": (
        "Von 100 Menschen, die ein Kästchen ankreuzen, senden {p} es angekreuzt; von 100, die "
        "es nicht tun, {q}. Was Sie senden, ist kein Beweis: Ein Kästchen verschiebt die "
        "Chancen höchstens {box_odds} zu 1, alle {boxes} zusammen höchstens {odds} zu 1."
    ),
    "proof_other": (
        "Was Sie senden, wird durch Zufall um Ihre Antwort herum gezogen. Es ist kein Beweis: "
        "Es verschiebt die Chancen, die jemand für Ihre Antwort sieht, höchstens {odds} zu 1."
    ),
}

FRENCH = {
    **french.PAGE,
    "yes": "oui",
    "no": "non",
    "prefer_not_to_say": "je préfère ne pas répondre",
    "mean": "moyenne",
    "about": "environ {number}",
    "respondents": "{number} personnes interrogées",
    "reports": "{number} réponses envoyées",
    "careless": "{label}, sans les réponses inattentives : {value} ± {margin}",
    "if_denied": "si tant de personnes concernées avaient nié : {list}",
    "if_lied": "{label}, si tant de personnes en tout avaient menti : {list}",
    "range": "{low} à {high}",
    "inconsistent": (
        "{value} : incompatible avec le procédé (estimation sans biais {raw}, "
        "valeur p {p_value})"
    ),
    "attention": (
        "{question} : d'après cette question de contrôle, {share} ± {margin} (95 %) des "
        "personnes interrogées sont attentives."
    ),
    "proof_yes_no": (
        "Sur 100 personnes dont la vraie réponse est {yes}, {p} envoient {yes} ; sur 100 dont "
        "la vraie réponse est {no}, {q} envoient {yes}. Un {yes} de votre part n'est pas une "
        "preuve : il multiplie les cotes à votre sujet par {odds} au plus."
    ),
    "proof_choice": (
        "Sur 100 personnes, {p} envoient leur vraie réponse et {q} chacune des {others} "
        "autres. Ce que vous envoyez n'est pas une preuve : cela multiplie les cotes à votre "
        "sujet par {odds} au plus."
    ),
    "proof_boxes": (
        "Sur 100 personnes qui cochent une case, {p} l'envoient cochée ; sur 100 qui ne la "
        "cochent pas, {q}. Ce que vous envoyez n'est pas une preuve : une case multiplie les "
        "cotes à votre sujet par {box_odds} au plus, les {boxes} ensemble par {odds} au plus."
    ),
    "proof_other": (
        "Ce que vous envoyez est tiré au hasard autour de votre réponse. Ce n'est pas une "
        "preuve : cela multiplie les cotes à votre sujet par {odds} au plus."
    ),
}

SPANISH = {
    **spanish.PAGE,
    "yes": "sí",
    "no": "no",
    "prefer_not_to_say": "prefiero no contestar",
    "mean": "media",
    "about": "unas {number}",
    "respondents": "{number} personas encuestadas",
    "reports": "{number} respuestas enviadas",
    "careless": "{label}, sin las respuestas descuidadas: {value} ± {margin}",
    "if_denied": "si tantas de las personas afectadas lo hubieran negado: {list}",
    "if_lied": "{label}, si tantas personas del total hubieran mentido: {list}",
    "range": "{low} a {high}",
    "inconsistent": (
        "{value}: incompatible con el método (estimación insesgada {raw}, valor p {p_value})"
    ),
    "attention": (
        "{question}: según esta pregunta de control, {share} ± {margin} (95 %) de las personas "
        "encuestadas están atentas."
    ),
    "proof_yes_no": (
        "De 100 personas cuya respuesta verdadera es {yes}, {p} envían {yes}; de 100 cuya "
        "respuesta verdadera es {no}, {q} envían {yes}. Un {yes} suyo no es una prueba: "
        "multiplica las probabilidades relativas sobre usted por {odds} como máximo."
    ),
    "proof_choice": (
        "De 100 personas, {p} envían su respuesta verdadera y {q} cada una de las otras "
        "{others}. Lo que usted envía no es una prueba: multiplica las probabilidades "
        "relativas sobre usted por {odds} como máximo."
    ),
    "proof_boxes": (
        "De 100 personas que marcan una casilla, {p} la envían marcada; de 100 que no, {q}. Lo "
        "que usted envía no es una prueba: una casilla multiplica las probabilidades relativas "
        "sobre usted por {box_odds} como máximo, las {boxes} juntas por {odds} como máximo."
    ),
    "proof_other": (
        "Lo que usted envía se sortea alrededor de su respuesta. No es una prueba: multiplica "
        "las probabilidades relativas sobre usted por {odds} como máximo."
    ),
}

LANGUAGES = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH}


def built_in(language: str) -> dict[str, str] | None:
    """The words of a language, by its code without the country; None if it is not built in.

    >>> built_in("de-AT")["yes"], built_in("pl")
    ('ja', None)
    """
    return LANGUAGES.get(language.lower().replace("_", "-").split("-")[0])
