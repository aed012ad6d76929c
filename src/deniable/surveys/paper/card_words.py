"""The words of cards and interviewers' sheets, in four languages.

A test checks that every language has every word with the same figures. A survey in another
language prints English words around its own questions and labels.
"""

from deniable.surveys.paper import birthday_words

ENGLISH = {
    **birthday_words.ENGLISH,
    "title": "How to answer",
    "secret": "Nobody but you may see what you throw.",
    "you_see": "You see",
    "you_say": "You say",
    "truth": "the truth",
    "opposite": "the opposite of the truth",
    "forced": "“{label}”, whatever is true",
    "throw_two-coins": "Throw two coins, one after the other.",
    "throw_die": "Throw the die once.",
    "throw_cards": "Draw one of the {outcomes} cards, look at it and put it back.",
    "throw_two-dice": "Throw two dice and add them up.",
    "throw_spinner": "Spin once.",
    "see_heads": "first coin: heads",
    "see_tails_heads": "first coin: tails, second coin: heads",
    "see_tails_tails": "first coin: tails, second coin: tails",
    "see_sum": "a sum of {list}",
    "see_truth_card": "a card “Say the truth” ({count} of {outcomes})",
    "see_opposite_card": "a card “Say the opposite” ({count} of {outcomes})",
    "see_field": "the field “{say}” ({count} of {outcomes})",
    "field_truth": "truth",
    "field_opposite": "opposite",
    "card_truth": "Say the truth",
    "card_opposite": "Say the opposite of the truth",
    "reassurance": (
        "Some people must say “{label}” although it is not true of them, and everybody here "
        "knows that. So “{label}” is no admission."
    ),
    "reassurance_choice": (
        "Some people must give an answer that is not theirs, and everybody here knows that. So "
        "no answer is an admission."
    ),
    "rule": "Please follow the table exactly. Otherwise the results are wrong.",
    "check": "Fingerprint of the survey",
    "sheet": "Interviewer's sheet",
    "step_hand_over": "Hand over the card and what is thrown. Let the person try it first.",
    "step_turn_away": "Turn away. Nobody but the person sees the throw. Never ask about it.",
    "step_ask": "Ask the question as it is printed. Write down only what the person says.",
    "step_no_names": "Write no name, time, place or remark. Use the lines in any order.",
    "step_refuse": "A person who does not want to take part gets no line.",
    "step_key": (
        "Key the table in as CSV with the first line   {columns}   and read it with   deniable "
        "survey collect"
    ),
    "answers": "Possible answers: {list}",
    "person": "person",
    "spinner_note": "Pin a paper clip to the middle with a pencil and flick it.",
}

GERMAN = {
    **birthday_words.GERMAN,
    "title": "So antworten Sie",
    "secret": "Niemand außer Ihnen darf den Wurf sehen.",
    "you_see": "Sie sehen",
    "you_say": "Sie sagen",
    "truth": "die Wahrheit",
    "opposite": "das Gegenteil der Wahrheit",
    "forced": "„{label}“, was auch immer wahr ist",
    "throw_two-coins": "Werfen Sie zwei Münzen, eine nach der anderen.",
    "throw_die": "Werfen Sie den Würfel einmal.",
    "throw_cards": "Ziehen Sie eine der {outcomes} Karten und stecken Sie sie zurück.",
    "throw_two-dice": "Werfen Sie zwei Würfel und zählen Sie die Augen zusammen.",
    "throw_spinner": "Drehen Sie einmal.",
    "see_heads": "erste Münze: Kopf",
    "see_tails_heads": "erste Münze: Zahl, zweite Münze: Kopf",
    "see_tails_tails": "erste Münze: Zahl, zweite Münze: Zahl",
    "see_sum": "eine Summe von {list}",
    "see_truth_card": "eine Karte „Sagen Sie die Wahrheit“ ({count} von {outcomes})",
    "see_opposite_card": "eine Karte „Sagen Sie das Gegenteil“ ({count} von {outcomes})",
    "see_field": "das Feld „{say}“ ({count} von {outcomes})",
    "field_truth": "Wahrheit",
    "field_opposite": "Gegenteil",
    "card_truth": "Sagen Sie die Wahrheit",
    "card_opposite": "Sagen Sie das Gegenteil der Wahrheit",
    "reassurance": (
        "Manche müssen „{label}“ sagen, obwohl es auf sie nicht zutrifft, und alle hier wissen "
        "das. „{label}“ ist also kein Geständnis."
    ),
    "reassurance_choice": (
        "Manche müssen eine Antwort geben, die nicht ihre ist, und alle hier wissen das. Keine "
        "Antwort ist also ein Geständnis."
    ),
    "rule": "Bitte halten Sie sich genau an die Tabelle. Sonst stimmt das Ergebnis nicht.",
    "check": "Fingerabdruck der Umfrage",
    "sheet": "Blatt für die Interviewer",
    "step_hand_over": "Geben Sie Karte und Wurfgerät ab. Die Person darf erst probieren.",
    "step_turn_away": "Drehen Sie sich weg. Niemand sonst sieht den Wurf. Fragen Sie nie.",
    "step_ask": "Stellen Sie die Frage wie gedruckt. Notieren Sie nur, was die Person sagt.",
    "step_no_names": "Kein Name, keine Zeit, kein Ort. Die Folge der Zeilen ist beliebig.",
    "step_refuse": "Wer nicht teilnehmen will, bekommt keine Zeile.",
    "step_key": (
        "Geben Sie die Tabelle als CSV ein, mit der ersten Zeile   {columns}   , und lesen Sie "
        "sie mit   deniable survey collect"
    ),
    "answers": "Mögliche Antworten: {list}",
    "person": "Person",
    "spinner_note": "Stecken Sie eine Büroklammer mit einem Bleistift in die Mitte.",
}

FRENCH = {
    **birthday_words.FRENCH,
    "title": "Comment répondre",
    "secret": "Personne d'autre que vous ne doit voir le tirage.",
    "you_see": "Vous voyez",
    "you_say": "Vous dites",
    "truth": "la vérité",
    "opposite": "le contraire de la vérité",
    "forced": "« {label} », quelle que soit la vérité",
    "throw_two-coins": "Lancez deux pièces, l'une après l'autre.",
    "throw_die": "Lancez le dé une fois.",
    "throw_cards": "Tirez une des {outcomes} cartes, regardez-la et remettez-la.",
    "throw_two-dice": "Lancez deux dés et additionnez-les.",
    "throw_spinner": "Faites tourner une fois.",
    "see_heads": "première pièce : face",
    "see_tails_heads": "première pièce : pile, seconde : face",
    "see_tails_tails": "première pièce : pile, seconde : pile",
    "see_sum": "une somme de {list}",
    "see_truth_card": "une carte « Dites la vérité » ({count} sur {outcomes})",
    "see_opposite_card": "une carte « Dites le contraire » ({count} sur {outcomes})",
    "see_field": "la case « {say} » ({count} sur {outcomes})",
    "field_truth": "vérité",
    "field_opposite": "contraire",
    "card_truth": "Dites la vérité",
    "card_opposite": "Dites le contraire de la vérité",
    "reassurance": (
        "Certaines personnes doivent dire « {label} » alors que ce n'est pas vrai pour elles, "
        "et tout le monde ici le sait. « {label} » n'est donc pas un aveu."
    ),
    "reassurance_choice": (
        "Certaines personnes doivent donner une réponse qui n'est pas la leur, et tout le "
        "monde ici le sait. Aucune réponse n'est donc un aveu."
    ),
    "rule": "Suivez exactement le tableau. Sinon les résultats sont faux.",
    "check": "Empreinte de l'enquête",
    "sheet": "Feuille de l'enquêteur",
    "step_hand_over": "Donnez la carte et l'objet du tirage. La personne peut d'abord essayer.",
    "step_turn_away": "Détournez-vous. Personne d'autre ne voit le tirage. N'en parlez jamais.",
    "step_ask": "Posez la question telle qu'imprimée. Notez seulement ce que la personne dit.",
    "step_no_names": "Ni nom, ni heure, ni lieu. L'ordre des lignes est sans importance.",
    "step_refuse": "Qui ne veut pas participer n'a pas de ligne.",
    "step_key": (
        "Saisissez le tableau en CSV avec la première ligne   {columns}   et lisez-le avec   "
        "deniable survey collect"
    ),
    "answers": "Réponses possibles : {list}",
    "person": "personne",
    "spinner_note": "Fixez un trombone au centre avec un crayon et donnez une pichenette.",
}

SPANISH = {
    **birthday_words.SPANISH,
    "title": "Cómo contestar",
    "secret": "Nadie más que usted debe ver el resultado.",
    "you_see": "Usted ve",
    "you_say": "Usted dice",
    "truth": "la verdad",
    "opposite": "lo contrario de la verdad",
    "forced": "«{label}», sea cual sea la verdad",
    "throw_two-coins": "Lance dos monedas, una después de la otra.",
    "throw_die": "Lance el dado una vez.",
    "throw_cards": "Saque una de las {outcomes} cartas, mírela y devuélvala.",
    "throw_two-dice": "Lance dos dados y súmelos.",
    "throw_spinner": "Gire una vez.",
    "see_heads": "primera moneda: cara",
    "see_tails_heads": "primera moneda: cruz, segunda: cara",
    "see_tails_tails": "primera moneda: cruz, segunda: cruz",
    "see_sum": "una suma de {list}",
    "see_truth_card": "una carta «Diga la verdad» ({count} de {outcomes})",
    "see_opposite_card": "una carta «Diga lo contrario» ({count} de {outcomes})",
    "see_field": "la casilla «{say}» ({count} de {outcomes})",
    "field_truth": "verdad",
    "field_opposite": "contrario",
    "card_truth": "Diga la verdad",
    "card_opposite": "Diga lo contrario de la verdad",
    "reassurance": (
        "Algunas personas tienen que decir «{label}» aunque no sea verdad, y aquí todos lo "
        "saben. «{label}» no es, por tanto, una confesión."
    ),
    "reassurance_choice": (
        "Algunas personas tienen que dar una respuesta que no es la suya, y aquí todos lo "
        "saben. Ninguna respuesta es, por tanto, una confesión."
    ),
    "rule": "Siga la tabla exactamente. De lo contrario los resultados son falsos.",
    "check": "Huella de la encuesta",
    "sheet": "Hoja del encuestador",
    "step_hand_over": "Entregue la tarjeta y lo que se lanza. La persona puede probar antes.",
    "step_turn_away": "Dese la vuelta. Nadie más ve el resultado. No pregunte nunca por él.",
    "step_ask": "Haga la pregunta tal como está impresa. Anote solo lo que dice la persona.",
    "step_no_names": "Ni nombre, ni hora, ni lugar. Rellene las líneas en cualquier orden.",
    "step_refuse": "Quien no quiera participar no tiene línea.",
    "step_key": (
        "Pase la tabla a CSV con la primera línea   {columns}   y léala con   deniable survey "
        "collect"
    ),
    "answers": "Respuestas posibles: {list}",
    "person": "persona",
    "spinner_note": "Sujete un clip en el centro con un lápiz y dele un golpecito.",
}

CARD_LANGUAGES = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH}


def card_words(language: str) -> dict[str, str]:
    """The words of a language, by its code without the country; else English.

    >>> card_words("de-AT")["truth"], card_words("pl")["truth"]
    ('die Wahrheit', 'the truth')
    """
    return CARD_LANGUAGES.get(language.lower().replace("_", "-").split("-")[0], ENGLISH)
