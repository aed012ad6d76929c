"""The texts of the page that a respondent sees, in French. Figures come from the manifest."""

PAGE = {
    "page_rehearsal": "RÉPÉTITION : rien de ce qui est envoyé ici ne compte.",
    "page_language": "Langue",
    "page_who": "Qui demande",
    "page_why": "Pourquoi",
    "page_questions": "Questions pour vous : {number}",
    "page_one_of": "Cet appareil tire pour vous une question privée parmi {number}.",
    "page_closes": "Ouvert jusqu'au {day}.",
    "page_label": "Ce que devient votre réponse",
    "page_tap": "Qui peut voir la réponse que vous touchez ?",
    "page_tap_answer": "Personne. Elle reste sur cet appareil, qui l'oublie à l'envoi.",
    "page_tap_public": (
        "La réponse à une question privée : personne. Elle reste sur cet appareil, qui "
        "l'oublie à l'envoi. La réponse à une question marquée comme envoyée telle quelle : "
        "l'hôte."
    ),
    "page_leaves": "Qu'est-ce qui quitte cet appareil ?",
    "page_leaves_answer": (
        "Un rapport, après ajout de hasard : {number} caractères, autant pour toute réponse."
    ),
    "page_leaks": "Et si le rapport fuit ?",
    "page_leaks_answer": (
        "Il multiplie les cotes à votre sujet par {odds} au plus. Un soupçon de 10 sur 100 "
        "devient au plus {guess} sur 100."
    ),
    "page_link": "Qui pourrait faire le lien entre le rapport et vous ?",
    "page_link_open": (
        "Le rapport n'a pas de nom, seulement un numéro tiré au sort, pour qu'il compte une "
        "fois. Comme tout site, le serveur pourrait noter que votre appareil est venu."
    ),
    "page_link_kiosk": (
        "Le rapport n'a pas de nom, seulement un numéro tiré au sort, pour qu'il compte une "
        "fois, et beaucoup de gens utilisent cet appareil."
    ),
    "page_link_token": (
        "L'hôte le pourrait : votre invitation est envoyée avec le rapport. Mais il ne voit "
        "que le rapport, jamais la réponse que vous touchez."
    ),
    "page_link_pass": (
        "L'hôte ne le peut pas d'après ses registres : il signe votre laissez-passer sans le "
        "voir. Seul quelqu'un qui note les heures et les adresses des connexions pourrait "
        "essayer."
    ),
    "page_public": "Envoyé tel quel, sans hasard.",
    "page_how": "Comment le hasard vous protège",
    "page_process": (
        "Vous touchez ce qui est vrai. Puis cet appareil lance des pièces. Souvent il envoie "
        "votre réponse, parfois une autre. Personne ne sait laquelle, mais tous les rapports "
        "ensemble montrent les proportions."
    ),
    "page_array_same": (
        "Sur 100 personnes dont la vraie réponse est « {label} », {number} envoient « {label} "
        "»."
    ),
    "page_array_other": (
        "Sur 100 personnes ayant une autre réponse, {number} envoient « {label} »."
    ),
    "page_low_end": "{number}, le minimum",
    "page_high_end": "{number}, le maximum",
    "page_ticked": "cochée",
    "page_not_ticked": "non cochée",
    "page_try": "Essayez",
    "page_try_text": (
        "Choisissez la vraie réponse d'une personne imaginaire et lancez les pièces. Rien de "
        "cela n'est envoyé."
    ),
    "page_try_person": "La vraie réponse de la personne imaginaire",
    "page_throw": "Lancer {number} fois",
    "page_throw_once": "Lancer une fois",
    "page_tally": "Ce qui aurait été envoyé",
    "page_quiz": "Est-ce clair ?",
    "page_quiz_text": (
        "Quelqu'un voit le rapport envoyé par cet appareil. Qu'apprend-il ? (Ce que vous "
        "choisissez ici n'est jamais envoyé.)"
    ),
    "page_quiz_truth": "Ma vraie réponse",
    "page_quiz_hint": "Un indice : le hasard a pu la changer",
    "page_quiz_nothing": "Rien du tout",
    "page_quiz_truth_told": "Non. La réponse que vous touchez ne quitte jamais cet appareil.",
    "page_quiz_hint_told": (
        "Oui. Le rapport est un indice : il multiplie les cotes à votre sujet par {odds} au "
        "plus."
    ),
    "page_quiz_nothing_told": (
        "Presque. C'est un indice limité : il multiplie les cotes à votre sujet par {odds} au "
        "plus."
    ),
    "page_begin": "Commencer",
    "page_begin_working": "Votre laissez-passer arrive …",
    "page_begin_used": (
        "Cette invitation a déjà servi, sur un autre appareil ou dans un autre navigateur."
    ),
    "page_begin_closed": "Cette enquête est close.",
    "page_begin_later": (
        "Le serveur ne répond pas. Veuillez appuyer encore une fois sur Commencer."
    ),
    "page_ask": "Les questions",
    "page_ask_note": "Touchez ce qui est vrai. Rien n'est envoyé avant le dernier bouton.",
    "page_choose": "Veuillez choisir",
    "page_number_hint": "Un nombre de {low} à {high}",
    "page_missing": "Veuillez répondre à cette question.",
    "page_promise": "Ce que cette réponse prouve",
    "page_undo": "Un rapport envoyé ne peut plus être retiré.",
    "page_send": "Ajouter du hasard et envoyer",
    "page_done": "Merci",
    "page_sent_waiting": (
        "Le hasard est ajouté, vos réponses sont oubliées. Le rapport part à un moment tiré au "
        "sort dans la minute, pour que l'heure ne dise rien. Vous pouvez fermer cette page : "
        "il partira alors quand vous la rouvrirez."
    ),
    "page_sent_sending": "Le hasard est ajouté, vos réponses sont oubliées. Envoi …",
    "page_sent_later": (
        "Le serveur ne répond pas. Vos réponses sont oubliées. Le rapport attend sur cet "
        "appareil et part quand vous serez en ligne, ou quand vous rouvrirez cette page."
    ),
    "page_sent_busy": (
        "Trop de rapports sont venus de votre réseau dans la dernière heure. Vos réponses "
        "sont oubliées. Le rapport attend sur cet appareil et part plus tard."
    ),
    "page_sent_sent": "Votre rapport est envoyé. Vos réponses sont oubliées.",
    "page_sent_refused": "L'enquête n'a pas accepté le rapport. Elle est peut-être close.",
    "page_sent_before": (
        "Cet appareil a envoyé son rapport. Un second en dirait plus sur vous : il n'y en a "
        "donc qu'un."
    ),
    "page_bytes": "Ce qui a été envoyé, au caractère près",
    "page_bytes_note": "C'est un rapport, pas votre réponse : le hasard a pu le changer.",
    "page_mark": (
        "À la clôture, les empreintes de tous les laissez-passer utilisés sont publiées. La "
        "vôtre est :"
    ),
    "page_check": "Vérifiez vous-même",
    "page_check_text": (
        "Cette page est faite d'un manifeste qui porte le numéro ci-dessous. Ce doit être le "
        "même que sur l'affiche ou la lettre qui vous amène ici."
    ),
    "page_code": "Lire le code qui ajoute le hasard",
    "page_save": "Enregistrer cette page comme fichier",
    "page_again": "Personne suivante",
    "page_refused": "Cette page ne peut pas être utilisée",
    "page_refused_insecure": "La connexion n'est pas chiffrée. Ouvrez le lien avec https.",
    "page_refused_incomplete": (
        "Le lien n'est pas complet. Rouvrez-le depuis votre invitation, ou collez-le ici."
    ),
    "page_paste": "Lien ou code de votre invitation",
    "page_take": "Utiliser",
    "page_refused_changed": (
        "Ce n'est pas l'enquête à laquelle vous êtes invité : ses promesses ont changé. Rien "
        "n'a été envoyé. Dites-le à qui vous a invité."
    ),
    "page_no_script": (
        "Cette page a besoin de JavaScript, car c'est votre appareil qui doit ajouter le "
        "hasard. Sans lui, rien ne peut être envoyé. Demandez le formulaire papier."
    ),
}
