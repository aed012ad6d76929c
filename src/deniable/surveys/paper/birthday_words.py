"""The words of cards with a second, harmless question: crosswise and unrelated questions."""

ENGLISH = {
    "harmless_month": "Does your mother have her birthday in {first}?",
    "harmless_months": "Does your mother have her birthday from {first} to {last}?",
    "months": (
        "January February March April May June July August September October November December"
    ),
    "throw_crosswise": "Answer both questions silently, and compare your two answers.",
    "secret_birthday": (
        "Nobody but you may know that birthday: who knows it can work out your answer. If "
        "somebody here knows it, think of another person's."
    ),
    "see_same": "twice “{yes}”, or twice “{no}”",
    "see_different": "once “{yes}” and once “{no}”",
    "same": "same",
    "different": "different",
    "say_same": "“same”",
    "say_different": "“different”",
    "odds_birthday": (
        "To anyone who does not know the birthday, what you say multiplies the odds about you "
        "by at most {odds}."
    ),
    "reassurance_crosswise": (
        "“{same}” and “{different}” can both be true of everybody. So neither is an admission."
    ),
    "first": "the answer to question 1",
    "second": "the answer to question 2",
    "field_first": "question 1",
    "field_second": "question 2",
    "card_first": "Answer question 1",
    "card_second": "Answer question 2",
    "see_first_card": "a card “Answer question 1” ({count} of {outcomes})",
    "see_second_card": "a card “Answer question 2” ({count} of {outcomes})",
}

GERMAN = {
    "harmless_month": "Hat Ihre Mutter im {first} Geburtstag?",
    "harmless_months": "Hat Ihre Mutter in den Monaten von {first} bis {last} Geburtstag?",
    "months": (
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
    ),
    "throw_crosswise": "Beantworten Sie beide Fragen still, und vergleichen Sie die Antworten.",
    "secret_birthday": (
        "Niemand außer Ihnen darf diesen Geburtstag kennen: Wer ihn kennt, kann Ihre Antwort "
        "ausrechnen. Kennt ihn jemand hier, denken Sie an einen anderen Menschen."
    ),
    "see_same": "zweimal „{yes}“ oder zweimal „{no}“",
    "see_different": "einmal „{yes}“ und einmal „{no}“",
    "same": "gleich",
    "different": "verschieden",
    "say_same": "„gleich“",
    "say_different": "„verschieden“",
    "odds_birthday": (
        "Für alle, die den Geburtstag nicht kennen, verschiebt das, was Sie sagen, die Chancen "
        "höchstens {odds} zu 1."
    ),
    "reassurance_crosswise": (
        "„{same}“ und „{different}“ können beide auf jeden Menschen zutreffen. Keines von "
        "beiden ist also ein Geständnis."
    ),
    "first": "die Antwort auf Frage 1",
    "second": "die Antwort auf Frage 2",
    "field_first": "Frage 1",
    "field_second": "Frage 2",
    "card_first": "Beantworten Sie Frage 1",
    "card_second": "Beantworten Sie Frage 2",
    "see_first_card": "eine Karte „Beantworten Sie Frage 1“ ({count} von {outcomes})",
    "see_second_card": "eine Karte „Beantworten Sie Frage 2“ ({count} von {outcomes})",
}

FRENCH = {
    "harmless_month": "L'anniversaire de votre mère est-il en {first} ?",
    "harmless_months": "L'anniversaire de votre mère est-il de {first} à {last} ?",
    "months": (
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
    ),
    "throw_crosswise": "Répondez en silence aux deux questions et comparez vos réponses.",
    "secret_birthday": (
        "Personne d'autre que vous ne doit connaître cet anniversaire : qui le connaît peut "
        "en déduire votre réponse. Si quelqu'un ici le connaît, pensez à une autre personne."
    ),
    "see_same": "deux fois « {yes} » ou deux fois « {no} »",
    "see_different": "une fois « {yes} » et une fois « {no} »",
    "same": "pareil",
    "different": "différent",
    "say_same": "« pareil »",
    "say_different": "« différent »",
    "odds_birthday": (
        "Pour qui ne connaît pas l'anniversaire, ce que vous dites multiplie les cotes à votre "
        "sujet par {odds} au plus."
    ),
    "reassurance_crosswise": (
        "« {same} » et « {different} » peuvent être vrais pour tout le monde. Aucun des deux "
        "n'est donc un aveu."
    ),
    "first": "la réponse à la question 1",
    "second": "la réponse à la question 2",
    "field_first": "question 1",
    "field_second": "question 2",
    "card_first": "Répondez à la question 1",
    "card_second": "Répondez à la question 2",
    "see_first_card": "une carte « Répondez à la question 1 » ({count} sur {outcomes})",
    "see_second_card": "une carte « Répondez à la question 2 » ({count} sur {outcomes})",
}

SPANISH = {
    "harmless_month": "¿Cumple años su madre en {first}?",
    "harmless_months": "¿Cumple años su madre en los meses de {first} a {last}?",
    "months": (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
        "diciembre"
    ),
    "throw_crosswise": "Conteste en silencio a las dos preguntas y compare sus respuestas.",
    "secret_birthday": (
        "Nadie más que usted debe conocer ese cumpleaños: quien lo conoce puede deducir su "
        "respuesta. Si alguien aquí lo conoce, piense en otra persona."
    ),
    "see_same": "dos veces «{yes}» o dos veces «{no}»",
    "see_different": "una vez «{yes}» y una vez «{no}»",
    "same": "igual",
    "different": "distinto",
    "say_same": "«igual»",
    "say_different": "«distinto»",
    "odds_birthday": (
        "Para quien no conoce el cumpleaños, lo que usted dice multiplica las probabilidades "
        "relativas sobre usted por {odds} como máximo."
    ),
    "reassurance_crosswise": (
        "«{same}» y «{different}» pueden ser verdad para cualquiera. Ninguno de los dos es, "
        "por tanto, una confesión."
    ),
    "first": "la respuesta a la pregunta 1",
    "second": "la respuesta a la pregunta 2",
    "field_first": "pregunta 1",
    "field_second": "pregunta 2",
    "card_first": "Conteste a la pregunta 1",
    "card_second": "Conteste a la pregunta 2",
    "see_first_card": "una carta «Conteste a la pregunta 1» ({count} de {outcomes})",
    "see_second_card": "una carta «Conteste a la pregunta 2» ({count} de {outcomes})",
}
